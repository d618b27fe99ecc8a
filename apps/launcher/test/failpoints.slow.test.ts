import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { controllerFailpointPorts } from '@tranche/controller'
import { listFailpoints } from '@tranche/failpoints'
import { executorFailpointPorts } from '@tranche/executor'
import { launch } from '@tranche/launcher'
import { findBreaches, readRecording } from '@tranche/recording'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let folder: string
const children: ChildProcess[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

describe('tranche failpoints', () => {
  it('lists every failpoint with the commands that reach it', async () => {
    const { code, out } = await tranche(['failpoints'])
    const rows = out.trimEnd().split('\n')
    expect(code).toBe(0)
    expect(rows.map((row) => row.split(' ')[0])).toEqual([
      ...listFailpoints({ ...controllerFailpointPorts, ...executorFailpointPorts }).keys(),
    ])
    expect(rows.find((row) => row.startsWith('executor.deletePod.after '))).toMatch(/ {2}executor, all-in-one, dev$/)
    expect(rows.find((row) => row.startsWith('rollout.writeStatus.before '))).toMatch(/ {2}controller, all-in-one, dev$/)
  })
})

describe('TRANCHE_FAILPOINT', () => {
  it.each([
    ['controller', 'rollout.writeStatus.befor', 'rollout.writeStatus.before'],
    ['controller', 'executor.deletePod.after', 'tranche failpoints lists all'],
    ['executor', 'deletePod', 'executor.deletePod.after'],
    ['dev', 'release.touchpod.before', 'release.touchPod.before'],
  ])('of %s refuses %s before anything runs, and names the closest', async (command, value, hint) => {
    const { code, err } = await tranche([command], { TRANCHE_FAILPOINT: value })
    expect([code, err]).toEqual([2, expect.stringMatching(/^OPTION_INVALID: TRANCHE_FAILPOINT does not take [^\n]+\n$/)])
    expect(err).toContain(hint)
  })

  it('ends an executor as SIGKILL does, and another executor completes the release (G1 to G4, G6, G7)', async () => {
    const [readyFile, record] = [join(folder, 'ready.json'), join(folder, 'writes.ndjson')]
    const sim = start(`sim --demo --exit -o json --nodes 5 --speed 20 --ready-file ${readyFile} --record ${record}`)
    const result = text(sim.stdout!)
    await expect.poll(() => existsSync(readyFile), { timeout: 30_000, interval: 20 }).toBe(true)
    const { kubeconfig } = JSON.parse(readFileSync(readyFile, 'utf8')) as { kubeconfig: string }
    start(`controller --kubeconfig ${kubeconfig}`)
    const first = start(`executor --kubeconfig ${kubeconfig}`, { TRANCHE_FAILPOINT: 'executor.deletePod.after#2' })
    const said = text(first.stderr!)
    expect(await once(first, 'exit')).toEqual([null, 'SIGKILL'])
    expect(await said).toContain(`TRANCHE_FAILPOINT: executor.deletePod.after#2 reached in process ${first.pid}: the process ends here\n`)

    start(`executor --kubeconfig ${kubeconfig}`)
    expect(JSON.parse(await result)).toMatchObject({ phase: 'Healthy', updated: 5, maxUnavailableSeen: 1 })
    const writes = readRecording(readFileSync(record, 'utf8').split('\n'))
    const isOurs = (actor: string): boolean => actor === 'admin'
    expect(findBreaches(writes, { daemonSet: 'node-agent', isOurs, watchLagMs: 2_000 })).toEqual([])
  })
})

function start(args: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(process.execPath, ['apps/launcher/bin/tranche.mjs', ...args.split(' ')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  children.push(child)
  return child
}

async function tranche(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const texts = { out: '', err: '' }
  const stream = (name: 'out' | 'err') => ({ write: (written: string) => void (texts[name] += written) })
  const code = await launch(args, { out: stream('out'), err: stream('err'), env })
  return { code, ...texts }
}
