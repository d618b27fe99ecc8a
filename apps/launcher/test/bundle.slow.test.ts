import { type ChildProcess, execFile, execFileSync, spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { kubectlForTests } from '../../../scripts/kubectl-for-tests.ts'

const kubectlIsMissing = !kubectlForTests()
let folder: string
let there: string
let bundling: SpawnSyncReturns<string>

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  there = join(folder, 'there')
  mkdirSync(there)
  bundling = spawnSync(process.execPath, ['scripts/bundle-cli.ts', join(folder, 'package')], { encoding: 'utf8' })
  run('npm', ['pack', '--silent', './package'], folder)
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'))!
  run('npm', ['install', '--offline', '--silent', '--no-audit', '--no-fund', join(folder, archive)], there)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the command line as one npm package, installed in an empty folder', () => {
  it('is built without an error or a warning', () => {
    expect([bundling.status, bundling.stderr]).toEqual([0, ''])
  })

  it('has no dependencies', () => {
    expect(readdirSync(join(there, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['tranche'])
  })

  it.each(['tranche', 'kubectl-tranche'])('runs in an otherwise empty folder, as %s', (name) => {
    expect(tranche(name, 'version')).toMatch(/^tranche \d+\.\d+\.\d+ \(Node\.js /)
  })

  it('performs a whole release on its own simulator', () => {
    const result = tranche('tranche', 'dev', '--virtual', '--demo', '--nodes', '6', '-o', 'json')
    expect(JSON.parse(result)).toMatchObject({ phase: 'Healthy', updated: 6 })
  })

  it('has the licence text of every library that its bill of materials names', () => {
    const installed = join(there, 'node_modules/tranche')
    const { components } = JSON.parse(readFileSync(join(installed, 'sbom.cdx.json'), 'utf8')) as {
      readonly components: readonly { readonly group?: string; readonly name: string; readonly version: string }[]
    }
    const parts = readFileSync(join(installed, 'THIRD-PARTY-LICENSES'), 'utf8')
      .split(/^={80}\n/m)
      .slice(1)
    const texts = new Map(
      parts.flatMap((part) => {
        const [headings = ''] = part.split('\n\n')
        return headings.split('\n').map((line) => [/^\S+ \S+(?= \()/.exec(line)?.[0], part] as const)
      }),
    )
    const titles = components.map(({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name} ${version}`)
    expect(titles.length).toBeGreaterThan(100)
    const grant = /Permission is hereby granted|Permission to use, copy|Redistribution and use|Apache License|Blue Oak Model License|CC0/
    expect(titles.filter((title) => !grant.test(texts.get(title) ?? ''))).toEqual([])
    const page = readFileSync(join(installed, 'static/swagger-ui-bundle.js'), 'utf8')
    const [, version] = /PACKAGE_VERSION:"([^"]+)"/.exec(page) ?? []
    expect(texts.get(`swagger-ui ${version}`)).toMatch(/Jed Watson[\s\S]*DOMPurify[\s\S]*ieee754[\s\S]*React/)
  })

  it('contains the dashboard beside its programs, and no other part of its build', () => {
    const page = readdirSync(join(there, 'node_modules/tranche/dashboard'))
    expect(page.toSorted()).toEqual(['assets', 'index.html'])
  })

  it('logs errors with the names of their classes', () => {
    const kubeconfig = join(folder, 'away')
    const away = { clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }], users: [{ name: 'a', user: { token: 'x' } }] }
    const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }]
    writeFileSync(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...away, contexts, 'current-context': 'a' }))
    const args = [join(there, 'node_modules/.bin/tranche'), 'executor', '--kubeconfig', kubeconfig]
    const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 5_000, killSignal: 'SIGTERM' })
    const [line = ''] = stderr.split('\n')
    expect(JSON.parse(line)).toMatchObject({ msg: 'the API server did not answer', err: { type: 'AppError' } })
  })

  it('checks manifests', () => {
    const files = ['rollout.yaml', 'policies/metrics.yaml'].flatMap((name) => ['-f', join(process.cwd(), 'examples', name)])
    expect(tranche('tranche', 'lint', ...files)).toContain('no problems')
    const broken = join(folder, 'broken.yaml')
    const metrics = readFileSync('examples/policies/metrics.yaml', 'utf8')
    writeFileSync(broken, metrics.replace(/successCondition: .*/, 'successCondition: result[0] <').replace(/query: .*/, 'query: sum('))
    const { status, stdout } = spawnSync(process.execPath, [join(there, 'node_modules/.bin/tranche'), 'lint', '-f', broken], {
      encoding: 'utf8',
    })
    expect([status, stdout]).toEqual([1, expect.stringMatching(/query[\s\S]*successCondition/)])
  })
})

describe('the installed command line, with a simulated cluster', () => {
  const execute = promisify(execFile)
  let cluster: ChildProcess
  let env: Record<string, string>

  beforeAll(async () => {
    const ready = join(folder, 'ready.json')
    const kubeconfig = join(folder, 'kubeconfig')
    const bin = join(there, 'node_modules/.bin')
    env = { PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter), HOME: folder, KUBECONFIG: kubeconfig }
    const args = ['dev', '--nodes', '4', '--speed', '50', '--ready-file', ready, '--kubeconfig', kubeconfig]
    cluster = spawn(process.execPath, [join(bin, 'tranche'), ...args], { stdio: 'ignore', cwd: there })
    await vi.waitUntil(() => existsSync(ready), { timeout: 60_000, interval: 50 })
    await execute('tranche', ['status', 'node-agent', '-n', 'demo', '--timeout', '1m'], { env, cwd: there })
  })
  afterAll(async () => {
    const ended = new Promise((resolve) => cluster.on('exit', resolve))
    cluster.kill('SIGINT')
    await ended
  })

  it('serves the dashboard of the package', async () => {
    const { api } = JSON.parse(readFileSync(join(folder, 'ready.json'), 'utf8')) as { readonly api: string }
    const index = await (await fetch(`${api}/dashboard/`)).text()
    const [, script] = / src="([^"]+)"/.exec(index) ?? []
    const answer = await fetch(`${api}${script}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/javascript; charset=utf-8'])
  })

  it('finds no problem, and lists its checks (doctor)', async () => {
    const { stdout } = await execute('tranche', ['doctor'], { env, cwd: there })
    const checks = ['server', 'resources', 'rights', 'controller', 'clock', 'openkruise', 'admission', 'executor', 'versions', 'redis']
    const lines = stdout.split('\n').filter((line) => /^\S/.test(line))
    expect(lines.map((line) => line.split(/\s+/)[1])).toEqual(checks)
    expect(lines[0]).toMatch(/^ok {7}server {6}https:\/\/127\.0\.0\.1:\d+ \(context \S+\) runs Kubernetes v1\./)
    expect(stdout).not.toMatch(/^(problem|unknown)/m)
  })

  it.skipIf(kubectlIsMissing)('is a kubectl plugin if it is on the PATH', async () => {
    const { stdout } = await execute('kubectl', ['tranche', 'doctor', '-o', 'json'], { env, cwd: there })
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ check: 'controller', state: 'ok' }))
  })

  it.skipIf(kubectlIsMissing)('completes names after `kubectl tranche`', async () => {
    const { stdout } = await execute('kubectl', ['__complete', 'tranche', 'get', '-n', 'demo', ''], { env, cwd: there })
    expect(stdout).toBe('node-agent\tDone\n:4\n')
  })
})

function tranche(name: string, ...args: readonly string[]): string {
  return run(process.execPath, [join(there, 'node_modules/.bin', name), ...args], there)
}

function run(program: string, args: readonly string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, NODE_PATH: '' } })
}
