import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openLineFile, writeWhole } from '../src/files/output-file.ts'
import { createFileLogger } from '../src/logging/logging.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-private-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('a token is not written through a symlink at a predictable name', () => {
  const [path, prepared] = [join(folder, 'kubeconfig'), join(folder, 'prepared')]
  writeFileSync(prepared, 'before')
  symlinkSync(prepared, `${path}.${process.pid}.tmp`)
  writeWhole(path, 'token')
  expect([readFileSync(path, 'utf8'), readFileSync(prepared, 'utf8')]).toEqual(['token', 'before'])
  expect([statSync(path).mode & 0o777, readdirSync(folder).length]).toEqual([0o600, 3])
})

it.each([
  ['a log', (path: string) => createFileLogger({ path, nowMs: () => 0, report: () => {} }).close()],
  ['a recording', (path: string) => openLineFile(path, () => {}).close()],
])('%s is readable by its user alone, also where the file existed before', (_name, write) => {
  const [fresh, old] = [join(folder, 'fresh'), join(folder, 'old')]
  writeFileSync(old, 'before')
  chmodSync(old, 0o644)
  for (const path of [fresh, old]) {
    write(path)
    expect([statSync(path).mode & 0o777, readFileSync(path, 'utf8')]).toEqual([0o600, ''])
  }
})
