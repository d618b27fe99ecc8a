import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFileLogger } from '../src/logging/logging.ts'

it('a log line contains its level as a word, its time and its fields', () => {
  const folder = mkdtempSync(join(tmpdir(), 'logging-'))
  const path = join(folder, 'log')
  const { log, close } = createFileLogger({ path, nowMs: () => 0, report: () => {} })
  log.child({ program: 'tranche-executor' }).warn({ key: 'demo/agent' }, 'job failed')
  close()
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    level: 'warn',
    time: '1970-01-01T00:00:00.000Z',
    program: 'tranche-executor',
    key: 'demo/agent',
    msg: 'job failed',
  })
  rmSync(folder, { recursive: true })
})

it('a log line contains each field once, with the last value', () => {
  const folder = mkdtempSync(join(tmpdir(), 'logging-'))
  const path = join(folder, 'log')
  const { log, close } = createFileLogger({ path, nowMs: () => 0, report: () => {} })
  const child = log.child({ program: 'tranche-all-in-one', identity: 'a' }).child({ program: 'tranche-executor' })
  child.info({ identity: 'a_executor' }, 'started')
  close()
  expect(readFileSync(path, 'utf8')).toBe(
    '{"level":"info","time":"1970-01-01T00:00:00.000Z","program":"tranche-executor","identity":"a_executor","msg":"started"}\n',
  )
  rmSync(folder, { recursive: true })
})

it('a log line contains no control characters, and parses to the original values', () => {
  const folder = mkdtempSync(join(tmpdir(), 'logging-'))
  const path = join(folder, 'log')
  const { log, close } = createFileLogger({ path, nowMs: () => 0, report: () => {} })
  const foreign = 'x\u001b[2J\u009b31m\u202eevil\u2028\u007f\n\u{e0041}😀 ü'
  log.warn({ [foreign]: foreign, err: new Error(foreign) }, 'refused action')
  close()
  const line = readFileSync(path, 'utf8')
  expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  expect(line).toContain('😀 ü')
  expect(JSON.parse(line)).toMatchObject({ [foreign]: foreign, err: { message: foreign } })
  rmSync(folder, { recursive: true })
})
