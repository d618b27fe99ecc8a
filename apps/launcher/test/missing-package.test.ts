import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-missing-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('bin/tranche.mjs', () => {
  it.each([
    ['from the start', "import 'not-installed'"],
    ['for one command', "await import('not-installed')"],
  ])('says in one line that a package is missing %s, and how it comes', (_when, main) => {
    const { status, stderr } = runWith(main)
    expect(stderr).toBe("DEPENDENCY_MISSING: Cannot find package 'not-installed'. Run npx -y pnpm@12.21.0 install in the checkout.\n")
    expect(status).toBe(1)
  })

  it('does not mistake a missing file of tranche for a package', () => {
    expect(runWith("import './gone.ts'").stderr).not.toContain('DEPENDENCY_MISSING')
  })
})

function runWith(main: string): { readonly status: number | null; readonly stderr: string } {
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'src/main.ts'), `${main}\n`)
  cpSync(join(import.meta.dirname, '../bin'), join(folder, 'bin'), { recursive: true })
  return spawnSync(process.execPath, [join(folder, 'bin/tranche.mjs')], { encoding: 'utf8' })
}
