import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFileLogger } from '../src/logging.ts'

it('a line of the log names its level in words, its moment and its fields', () => {
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
