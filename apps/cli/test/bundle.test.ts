import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  run(process.execPath, ['scripts/bundle-cli.ts', join(folder, 'package')], process.cwd())
  run('npm', ['pack', '--silent', './package'], folder)
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))!
  run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', join(folder, 'there'), join(folder, archive)], folder)
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the command line as one npm package', { timeout: 60_000 }, () => {
  it.each(['tranche', 'kubectl-tranche'])('runs where nothing else is, as %s', (name) => {
    expect(tranche(name, 'version')).toMatch(/^tranche \d+\.\d+\.\d+ \(Node\.js /)
  })

  it('performs a whole release on its own simulator', () => {
    const result = tranche('tranche', 'dev', '--virtual', '--demo', '--nodes', '6', '-o', 'json')
    expect(JSON.parse(result)).toMatchObject({ phase: 'Healthy', updated: 6 })
  })

  it('checks manifests', () => {
    expect(tranche('tranche', 'lint', '-f', join(process.cwd(), 'examples/rollout.yaml'))).toContain('no problems')
  })
})

function tranche(name: string, ...args: readonly string[]): string {
  return run(process.execPath, [join(folder, 'there/node_modules/.bin', name), ...args], folder)
}

function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, NODE_PATH: '' } })
}
