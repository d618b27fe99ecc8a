import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type HistoryReport, historyReportSchema, meSchema } from '../../packages/words/api-schema/src/index.ts'

const page = readFileSync('docs/guides/rest.md', 'utf8')
const [start = '', script = ''] = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text = '']) => text)
let folder: string
let cluster: ChildProcess

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  const [, ...args] = start.trim().split(' ')
  const few = ['--nodes', '10', '--speed', '50', '--kubeconfig', 'kubeconfig']
  cluster = spawn(process.execPath, [resolve('apps/launcher/bin/tranche.mjs'), ...args, ...few], { cwd: folder, stdio: 'ignore' })
  await vi.waitUntil(() => existsSync(join(folder, 'ready.json')), { timeout: 90_000, interval: 50 })
})

afterAll(async () => {
  const ended = new Promise((done) => cluster.once('exit', done))
  cluster.kill('SIGINT')
  await ended
  rmSync(folder, { recursive: true, force: true })
})

it('the commands of docs/guides/rest.md are a complete release with curl alone, and the record shows the user of each action', {
  timeout: 180_000,
}, async () => {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder })
  const answers = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const [me, restarted, waiting, explained, nodes, approved, history] = answers
  const { username } = meSchema.parse(me)
  expect(restarted).toMatchObject({ type: 'restart', state: 'acknowledged' })
  expect(waiting).toMatchObject({ total: 1, items: [{ name: 'node-agent', outcome: 'Waiting' }] })
  expect(explained).toMatchObject({ subject: 'node-agent', answer: expect.any(String) as string })
  expect(nodes?.['items']).toHaveLength(5)
  expect(approved).toMatchObject({ type: 'approve', state: 'acknowledged' })
  const { actions }: HistoryReport = historyReportSchema.parse(history)
  expect(actions).toMatchObject([
    { type: 'approve', by: username, via: 'rest', from: '127.0.0.1', expectedStep: 1, reason: 'the first tenth is well' },
    { type: 'restart', by: username, via: 'rest', from: '127.0.0.1', reason: 'new certificates' },
  ])
  expect(answers).toHaveLength(7)
})
