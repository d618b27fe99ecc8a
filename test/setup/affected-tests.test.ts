import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const always = ['test/architecture', 'test/docs']

it.each<[string, string, readonly string[]]>([
  ['a source', 'packages/core/base/src/index.ts', ['apps/app/', 'packages/core/base/', 'test/starts/']],
  ['a source that only a started program has', 'apps/app/src/index.ts', ['apps/app/', 'test/starts/']],
  ['a test that is not committed', 'packages/core/base/test/new.test.ts', ['apps/app/', 'packages/core/base/', 'test/starts/']],
  ['a page that a test names', 'docs/a.md', ['packages/core/other/']],
  ['a page that none names', 'docs/b.md', []],
])('a change of %s affects the packages that it can reach', (_what, file, folders) => {
  const folder = repository()
  write(folder, file, '// changed\n')
  expect(affected(folder)).toBe(`affected: ${[...always, ...folders].join(' ')}\n`)
})

it('a change outside of the packages affects all tests, and an unchanged tree affects none', () => {
  const folder = repository()
  expect(affected(folder)).toBe('nothing changed since HEAD\n')
  write(folder, 'scripts/other.ts', '// changed\n')
  expect(affected(folder)).toBe('affected: all tests\n')
})

function affected(cwd: string): string {
  const program = ['scripts/test-affected.ts', '--since', 'HEAD', '--list']
  return execFileSync(process.execPath, program, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

/** A workspace: `app` depends on `base`, `starts` starts `app` without a dependency, and a test of `other` reads a page. */
function repository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const file of ['scripts/test-affected.ts', 'scripts/affected-tests.ts', 'turbo.json', 'tsconfig.json', 'vitest.config.ts'])
    cpSync(file, join(folder, file))
  write(folder, '.gitignore', 'node_modules\n.turbo\n')
  write(folder, 'package.json', JSON.stringify({ name: 'root', private: true, packageManager: 'pnpm@12.21.0', type: 'module' }))
  write(folder, 'pnpm-workspace.yaml', 'packages: [apps/*, packages/*/*, test/*]\n')
  write(folder, 'pnpm-lock.yaml', "lockfileVersion: '9.0'\n")
  write(folder, 'packages/core/base/package.json', JSON.stringify({ name: 'base', version: '0.1.0' }))
  write(folder, 'packages/core/other/package.json', JSON.stringify({ name: 'other', version: '0.1.0' }))
  write(folder, 'packages/core/other/test/page.test.ts', "readFileSync('docs/a.md')\n")
  const dependencies = { base: 'workspace:*' }
  write(folder, 'apps/app/package.json', JSON.stringify({ name: 'app', version: '0.1.0', dependencies }))
  write(folder, 'test/starts/package.json', JSON.stringify({ name: 'starts', version: '0.1.0' }))
  write(folder, 'test/starts/run.ts', "spawn('apps/app/bin/app.mjs')\n")
  write(folder, 'test/starts/run.test.ts', "import './run.ts'\n")
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    ['-c', 'user.name=a', '-c', 'user.email=a@a.example', 'commit', '-qm', 'x'],
  ])
    execFileSync('git', args, { cwd: folder, stdio: 'ignore' })
  return folder
}

function write(folder: string, file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}
