import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'

const page = readFileSync('docs/operations/traces.md', 'utf8')
const example = page.slice(page.indexOf('## See one'))
const [start = '', release = ''] = [...example.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text = '']) => text.replaceAll('\\\n', ''))
const [print = '', sim = '', programs = ''] = start.trim().split('\n')
const started: ChildProcess[] = []
let folder: string
let printed = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
})
afterAll(async () => {
  await Promise.all(started.map((child) => ended(child, 'SIGTERM')))
  rmSync(folder, { recursive: true, force: true })
})

const isMissing = !kubectlForTests()

it.skipIf(isMissing)(
  'the example of docs/operations/traces.md prints a trace that ends with a deletion',
  { timeout: 180_000 },
  async () => {
    const receiver = begin(`${print.replace('node ', `'${process.execPath}' `).replace('examples/', `${resolve('examples')}/`)} 0`)
    receiver.stdout?.on('data', (text) => (printed += String(text)))
    await vi.waitUntil(() => printed.includes('\n'), { timeout: 60_000, interval: 20 })
    const [, port = ''] = /port (\d+)/.exec(printed) ?? []
    begin(`${sim} --nodes 4 --speed 50`)
    await vi.waitUntil(() => existsSync(join(folder, 'cluster.kubeconfig')), { timeout: 60_000, interval: 50 })
    const tranche = begin(programs.replace(':4318', `:${port}`))
    await vi.waitUntil(() => / PUT rollouts\/status 200 /.test(printed), { timeout: 60_000, interval: 50 })
    await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', release], { cwd: folder })
    await vi.waitUntil(() => / delete pod node-agent-\w+ node-\d+ accepted /.test(printed), { timeout: 60_000, interval: 50 })

    const sinceMs = performance.now()
    await ended(tranche, 'SIGTERM')
    expect(performance.now() - sinceMs).toBeLessThan(10_000)
    const [, trace = ''] = /^(\w{8}) +delete pod/m.exec(printed) ?? []
    expect(printed).toMatch(new RegExp(`^${trace} +DELETE pods 200 `, 'm'))
  },
)

/** Starts a program of this checkout in a temporary folder. */
function begin(command: string): ChildProcess {
  const line = command.replace(/(^|\s)tranche /, `$1'${process.execPath}' '${resolve('apps/launcher/bin/tranche.mjs')}' `)
  const words = line.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", '')) ?? []
  const first = words.findIndex((word) => !/^[A-Z_]+=/.test(word))
  const env = Object.fromEntries(words.slice(0, first).map((word) => word.split('=', 2) as [string, string]))
  const child = spawn(words[first] ?? '', words.slice(first + 1), {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  started.push(child)
  return child
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const end = new Promise((done) => child.once('exit', done))
  child.kill(signal)
  await end
}
