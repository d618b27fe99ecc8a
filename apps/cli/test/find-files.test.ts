import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findFiles } from '../src/lint/find-files.ts'

let folder = ''
let manifests = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-find-'))
  manifests = join(folder, 'manifests')
  mkdirSync(join(manifests, '..data'), { recursive: true })
  writeFileSync(join(folder, 'token'), 'secret')
  writeFileSync(join(manifests, '..data/a.yaml'), 'kind: Rollout')
})
afterEach(() => rmSync(folder, { recursive: true }))

it('a folder may contain links to its own files, as a mounted ConfigMap does', () => {
  symlinkSync('..data/a.yaml', join(manifests, 'a.yaml'))
  expect(findFiles([manifests], false)).toEqual([join(manifests, 'a.yaml')])
})

it('a folder with a link to a file outside is refused, and the link is named', () => {
  symlinkSync(join(folder, 'token'), join(manifests, 'b.yaml'))
  expect(() => findFiles([manifests], false)).toThrow(/b\.yaml was skipped: it links to a file outside/)
})

it('a folder with a device is refused instead of being read endlessly', () => {
  symlinkSync('/dev/zero', join(manifests, 'c.yaml'))
  expect(() => findFiles([manifests], false)).toThrow(/c\.yaml was skipped: it is not a regular file/)
})
