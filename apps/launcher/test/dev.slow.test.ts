import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text as readText } from 'node:stream/consumers'
import { readRecording, unavailableSeen } from '@tranche/recording'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runDemo } from './run-demo.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('tranche dev --demo --virtual', () => {
  it('releases to every node within the budget and prints the result as the last line', async () => {
    const { code, out } = await runDemo('--nodes 40 -o json')
    expect(code).toBe(0)
    expect(out.split('\n')).toHaveLength(2)
    expect(JSON.parse(out)).toEqual({
      rollout: 'demo/node-agent',
      phase: 'Healthy',
      nodes: 40,
      updated: 40,
      batches: 3,
      maxUnavailable: 4,
      maxUnavailableSeen: 4,
      durationSeconds: expect.any(Number) as number,
    })
  })

  it('prints progress as plain lines without a terminal', async () => {
    const { out, err } = await runDemo('--nodes 10')
    expect(out).toBe('')
    expect(err).toContain('approved step 1\n')
    expect(err).toMatch(
      /demo\/node-agent is Healthy: 10 of 10 nodes updated in 3 batches and [\d.]+ s, at most 1 nodes were unavailable at once \(1 allowed\)\n$/,
    )
    expect(err).not.toContain('\u001b')
  })

  it('records the same writes for the same seed', async () => {
    const [first, second, other] = [join(folder, '1'), join(folder, '2'), join(folder, '3')]
    await runDemo(`--nodes 10 --seed 7 --record ${first}`)
    await runDemo(`--nodes 10 --seed 7 --record ${second}`)
    await runDemo(`--nodes 10 --seed 8 --record ${other}`)
    expect(firstDifference(first, second)).toBeNull()
    expect(firstDifference(first, other)).not.toBeNull()
  })

  it('records the data from which the result was computed', async () => {
    const file = join(folder, 'writes.ndjson')
    const { out } = await runDemo(`--nodes 20 -o json --record ${file}`)
    const writes = readRecording(readFileSync(file, 'utf8').split('\n'))
    const sinceMs = writes.find((write) => write.actor === 'tranche-cli' && write.kind === 'DaemonSet' && write.verb === 'patch')!.t
    const seen = unavailableSeen(writes, { namespace: 'demo', daemonSet: 'node-agent', sinceMs })
    expect(seen.max).toBe((JSON.parse(out) as { maxUnavailableSeen: number }).maxUnavailableSeen)
  })

  it.each(['0-0', '100-400'])('stays within the budget when watches take %s ms', async (delay) => {
    const { code, out } = await runDemo(`--nodes 20 -o json --watch-delay-ms ${delay}`)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ phase: 'Healthy', maxUnavailableSeen: 2 })
  })

  it('releases without admission, too', async () => {
    const { code, out } = await runDemo('--nodes 10 -o json --admission none')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ phase: 'Healthy', updated: 10, maxUnavailableSeen: 1 })
  })

  it('completes at once without nodes', async () => {
    const { code, out } = await runDemo('--nodes 0 -o json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ phase: 'Healthy', nodes: 0, updated: 0 })
  })
})

describe('tranche dev as a process', () => {
  it('serves the API once the ready file exists, and exits cleanly on a signal', async () => {
    const readyFile = join(folder, 'ready.json')
    const child = spawn(
      process.execPath,
      ['apps/launcher/bin/tranche.mjs', 'dev', '--no-demo', '--nodes', '3', '--ready-file', readyFile],
      {
        stdio: 'ignore',
      },
    )
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
    await expect.poll(() => existsSync(readyFile), { timeout: 10_000, interval: 20 }).toBe(true)
    const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as Record<
      'kubeconfig' | 'apiServer' | 'caFile' | 'token' | 'api' | 'dashboard',
      string
    >
    const nodes = JSON.parse(
      await get(`${ready.apiServer}/api/v1/nodes`, { ca: readFileSync(ready.caFile, 'utf8'), token: ready.token }),
    ) as { items: object[] }
    expect(nodes.items).toHaveLength(3)
    expect(ready.dashboard).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/login\/link\?code=[\w-]{32}$/)
    const followed = await fetch(ready.dashboard, { redirect: 'manual' })
    expect([followed.status, followed.headers.get('location')]).toEqual([302, `${ready.api}/dashboard/`])
    const [cookie = ''] = (followed.headers.get('set-cookie') ?? '').split(';', 1)
    const rollouts = (await (await fetch(`${ready.api}/api/v1/rollouts`, { headers: { cookie } })).json()) as { total: number }
    expect(rollouts.total).toBe(0)
    child.kill('SIGINT')
    await expect(ended).resolves.toBe(0)
    expect(existsSync(ready.kubeconfig)).toBe(false)
  })
})

describe('tranche controller and tranche executor as processes', () => {
  it('each report in one line that they have started, under which name, and what they wait for', async () => {
    const readyFile = join(folder, 'ready.json')
    const sim = start(['sim', '--no-demo', '--nodes', '0', '--ready-file', readyFile])
    await expect.poll(() => existsSync(readyFile), { timeout: 10_000, interval: 20 }).toBe(true)
    const { kubeconfig } = JSON.parse(readFileSync(readyFile, 'utf8')) as { kubeconfig: string }
    const programs = ['controller', 'executor'].map((name) => start([name, '--identity', 'me', '--kubeconfig', kubeconfig]))
    const [controller, executor] = await Promise.all(programs.map(async (program) => JSON.parse(await firstLine(program)) as object))
    expect(controller).toMatchObject({
      program: 'tranche-controller',
      identity: expect.stringMatching(/^me_[0-9a-f]{8}_controller$/) as string,
      lease: 'kube-system/tranche-controller',
      msg: 'started',
    })
    expect(executor).toMatchObject({
      program: 'tranche-executor',
      identity: expect.stringMatching(/^me_[0-9a-f]{8}_executor$/) as string,
      msg: 'started',
    })
    const ended = [...programs, sim].map((program) => new Promise((resolve) => program.on('exit', resolve)))
    for (const program of [...programs, sim]) program.kill('SIGINT')
    await expect(Promise.all(ended)).resolves.toEqual([0, 0, 0])
  })

  function start(args: readonly string[]): ChildProcess {
    return spawn(process.execPath, ['apps/launcher/bin/tranche.mjs', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  }

  async function firstLine({ stderr }: ChildProcess): Promise<string> {
    for await (const line of createInterface({ input: stderr! })) return line
    throw new Error('it ended without a word')
  }
})

/** @returns the first line in which two files differ, from 0; null when they are the same */
function firstDifference(a: string, b: string): number | null {
  const [left, right] = [a, b].map((path) => readFileSync(path, 'utf8').split('\n'))
  const at = left!.findIndex((line, index) => line !== right![index])
  return at === -1 && left!.length === right!.length ? null : at
}

function get(url: string, { ca, token }: { readonly ca: string; readonly token: string }): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { ca, headers: { authorization: `Bearer ${token}` } }, (response) => void readText(response).then(resolve, reject))
      .on('error', reject)
      .end()
  })
}
