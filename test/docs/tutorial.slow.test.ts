import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'

const page = readFileSync('docs/tutorial.md', 'utf8')
const [start = '', ...blocks] = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text = '']) => text)
const samples = [...readFileSync('docs/guides/cli.md', 'utf8').matchAll(/^```\n(demo\/node-agent |node-030\n)([\s\S]*?)^```/gm)].map(
  ([, head, rest]) => `${head}${rest}`,
)
const program = resolve('apps/launcher/bin/tranche.mjs')
const isMissing = !kubectlForTests()

let folder: string
let cluster: ChildProcess | undefined

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  // Works like the alias in the README.
  writeFileSync(join(folder, 'tranche'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`)
  chmodSync(join(folder, 'tranche'), 0o755)
  if (isMissing) return
  const [, ...args] = start.trim().split(' ')
  cluster = spawn(process.execPath, [program, ...args, '--speed', '20', '--ready-file', 'ready.json'], { cwd: folder, stdio: 'ignore' })
  await vi.waitUntil(() => existsSync(join(folder, 'ready.json')), { timeout: 90_000, interval: 50 })
})

afterAll(async () => {
  if (cluster !== undefined) {
    const ended = new Promise((done) => cluster?.once('exit', done))
    cluster.kill('SIGINT')
    await ended
  }
  rmSync(folder, { recursive: true, force: true })
})

it.skipIf(isMissing)('the commands of docs/tutorial.md have the documented effects', { timeout: 300_000 }, async () => {
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, HOME: folder }
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', blocks.join('')], { cwd: folder, env })
  expect(stdout).toContain('It completes if the new version runs well: 30 nodes in 3 batches.')
  // A release waits for a person, a version is bad, a version was rolled back, and a policy rolled one back.
  expect([...stdout.matchAll(/^exit code (\d)$/gm)].map(([, code]) => code)).toEqual(['3', '1', '1', '1'])
  expect(stdout).toMatch(/^demo\/node-agent: pause acknowledged/m)
  expect(stdout).toMatch(/^30$/m)
  expect(stdout).toContain('its template was applied again: nothing is deleted for it')
  expect(stdout).toContain('daemonset.apps/node-agent condition met')
  // The samples of docs/guides/cli.md match the output, except for names, times and randomness.
  expect(samples.length).toBeGreaterThan(1)
  for (const sample of samples) expect(alike(stdout)).toContain(alike(sample))
})

it('the commands of docs/tutorial.md do not prompt when they are pasted into a terminal', () => {
  const prompting = blocks.flatMap((block) => block.match(/^tranche (abort|undo|promote) .*$/gm) ?? [])
  expect(prompting).not.toEqual([])
  expect(prompting.filter((line) => !line.includes(' --yes'))).toEqual([])
})

/** Removes the differences between two runs of the same release: order of nodes, hashes and times. */
function alike(text: string): string {
  return text
    .replaceAll(/^│ {2}│ {2}[├└]─ zone-.*\n/gm, '')
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\bnode-agent-[a-z0-9]{5}\b/g, 'POD')
    .replaceAll(/\b[0-9a-f]{8,10}\b/g, 'HASH')
    .replaceAll(/ for (?:\d+[hms])+/g, ' for SPAN')
    .replaceAll(/step \d of 3 updates it|before it {2}\d+ nodes/g, 'POSITION')
}
