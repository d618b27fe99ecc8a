import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sourcesDigest } from '../../scripts/dashboard/sources-digest.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  write('pnpm-lock.yaml', 'react: 19')
  write('apps/dashboard/package.json', manifest('@tranche/dashboard', '@tranche/api-client'))
  write('apps/dashboard/index.html', '<!doctype html>')
  write('apps/dashboard/src/views/fleet.tsx', 'export {}')
  write('packages/adapters/api-client/package.json', manifest('@tranche/api-client', '@tranche/errors'))
  write('packages/adapters/api-client/src/index.ts', 'export {}')
  write('packages/words/errors/package.json', manifest('@tranche/errors', '@tranche/api-client'))
  write('packages/words/errors/src/catalog/codes.ts', 'export {}')
  write('packages/core/fence/package.json', manifest('@tranche/fence'))
  write('packages/core/fence/src/index.ts', 'export {}')
})
afterEach(() => rmSync(root, { recursive: true }))

describe('the digest of the sources of the dashboard', () => {
  it.each([
    'apps/dashboard/index.html',
    'apps/dashboard/src/views/fleet.tsx',
    'apps/dashboard/src/new.css',
    'packages/adapters/api-client/src/index.ts',
    'packages/words/errors/src/catalog/codes.ts',
    'pnpm-lock.yaml',
  ])('changes with %s', (file) => {
    const before = sourcesDigest(root)
    write(file, 'something else')
    expect(sourcesDigest(root)).not.toBe(before)
  })

  it.each([
    'apps/dashboard/dist/index.html',
    'apps/dashboard/node_modules/react/index.js',
    'apps/dashboard/test/fleet.test.ts',
    'packages/core/fence/src/index.ts',
    'packages/words/errors/test/codes.test.ts',
  ])('does not change with %s, which is not in the page', (file) => {
    const before = sourcesDigest(root)
    write(file, 'something else')
    expect(sourcesDigest(root)).toBe(before)
  })

  it('changes with the name of a file', () => {
    const before = sourcesDigest(root)
    rmSync(join(root, 'apps/dashboard/src/views/fleet.tsx'))
    write('apps/dashboard/src/views/list.tsx', 'export {}')
    expect(sourcesDigest(root)).not.toBe(before)
  })
})

function manifest(name: string, ...dependencies: readonly string[]): string {
  return JSON.stringify({ name, dependencies: Object.fromEntries(dependencies.map((other) => [other, 'workspace:*'])) })
}

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}
