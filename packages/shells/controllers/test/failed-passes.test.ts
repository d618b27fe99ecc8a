import type { BatchRelease, BatchReleaseSpec } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { createReleasePass, createRolloutPass, type RolloutPort, type RolloutReading } from '@tranche/controllers'
import { AppError } from '@tranche/errors'
import { silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { aReading, type RecordingPort, recordingPort } from './recording-port.ts'

const key = { namespace: 'demo', name: 'agent' }
const { signal } = new AbortController()
const bug = new TypeError('it cannot be read')
const unreachable = new AppError('API_UNREACHABLE', 'the API server does not answer')

describe('passes over a Rollout whose planning fails (G9)', () => {
  it.each<[failures: number, calls: readonly string[]]>([
    [1, []],
    [2, []],
    [3, ['updateRelease', 'event PassFailed']],
    [9, ['updateRelease', 'event PassFailed']],
  ])('%i times in a row stop its release once, from the third on', async (failures, calls) => {
    const world = rolloutWorld()
    await world.fail(failures, bug)
    expect(world.calls).toEqual(calls)
  })

  it('pause the BatchRelease with a hold, and change nothing else of it', async () => {
    const world = rolloutWorld()
    const { spec } = world.release()
    await world.fail(3, bug)
    const hold = { reason: 'PassFailed', id: 'PassFailed', message: expect.stringContaining('its log says why') as string }
    expect(world.release().spec).toEqual({ ...spec, tranche: { ...spec.tranche, paused: true, hold } })
  })

  it('stop nothing where one between them succeeds', async () => {
    const world = rolloutWorld()
    for (let round = 0; round < 3; round++) {
      await world.fail(2, bug)
      await world.pass()
    }
    expect(world.calls.filter((call) => call.includes('PassFailed'))).toEqual([])
  })

  it('stop nothing where the API server does not answer: that passes, and says what it waits for', async () => {
    const world = rolloutWorld()
    await world.fail(9, unreachable)
    expect(world.calls).toEqual([])
  })

  it.each<[string, (release: BatchRelease) => BatchRelease | undefined]>([
    ['no BatchRelease', () => undefined],
    ['a BatchRelease of another owner', (release) => ({ ...release, metadata: { ...release.metadata, ownerReferences: [] } })],
    ['a BatchRelease that is being deleted', (release) => ({ ...release, metadata: { ...release.metadata, deletionTimestamp: 'now' } })],
    [
      'a hold already',
      (release) => ({ ...release, spec: { ...release.spec, tranche: { hold: { reason: 'RevisionHeld', id: 'v2', message: '' } } } }),
    ],
  ])('write nothing where there is %s', async (_what, change) => {
    const world = rolloutWorld(change)
    await world.fail(5, bug)
    expect(world.calls).toEqual([])
  })

  it('try again with each failure where the stop could not be written', async () => {
    const world = rolloutWorld()
    world.refused = new AppError('WRITE_CONFLICT', 'it has changed')
    await world.fail(2, bug)
    await expect(world.run(bug)).rejects.toThrow('it has changed')
    world.refused = null
    await world.fail(1, bug)
    expect(world.calls).toEqual(['updateRelease', 'event PassFailed'])
  })
})

describe('passes over a BatchRelease whose planning fails (F8, G9)', () => {
  it('revoke its record from the third in a row on, and touch nothing', async () => {
    const { port, fail } = releaseWorld()
    await fail(2)
    expect(port.records).toEqual([])
    const before = port.reading!.release.status!.flight!
    await fail(1)
    expect(port.records).toEqual([
      { ...before, epoch: before.epoch + 1, seq: before.seq + 1, state: 'voiding', holds: [{ reason: 'PassFailed', id: 'release' }] },
    ])
    expect(port.calls.filter((call) => call.startsWith('touch'))).toEqual([])
  })

  it.each(['voiding', 'stopped'] as const)('leave a record alone that is %s', async (state) => {
    const { port, fail } = releaseWorld({ state })
    await fail(5)
    expect(port.records).toEqual([])
  })
})

function rolloutWorld(change: (release: BatchRelease) => BatchRelease | undefined = (release) => release) {
  const calls: string[] = []
  let failing: Error | null = null
  const { daemonSet, revisions, fleet, release: first } = aReading()
  const owner = first.metadata.ownerReferences![0]!
  const rollout = {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: { ...key, uid: owner.uid, resourceVersion: '1', generation: 1 },
    spec: { workloadRef: first.spec.workloadRef!, strategy: { canary: { steps: [{ replicas: '100%' }] } } },
  }
  let release = change(first)
  const world = { calls, refused: null as Error | null, release: () => release!, run, pass: () => run(null), fail }
  const cluster = {
    read: () => ({
      ...{ rollout, daemonSet, revisions, fleet, former: undefined, release, others: [rollout] },
      ...{ strategyScope: 'binding', kruise: null },
      get policy() {
        if (failing !== null) throw failing
        return { kind: 'none' }
      },
    }),
    releaseExists: async () => true,
    isNewest: async () => false,
    async updateRelease(read: BatchRelease, spec: BatchReleaseSpec) {
      if (world.refused !== null) throw world.refused
      calls.push('updateRelease')
      release = { ...read, spec }
    },
    ...Object.fromEntries(
      ['setFinalizer', 'setAnnotations', 'patchDaemonSet', 'createRelease', 'deleteRelease', 'writeStatus'].map((call) => [
        call,
        async () => void calls.push(call),
      ]),
    ),
  } as unknown as RolloutPort & { read: () => RolloutReading }
  const events = { record: (_of: unknown, _type: unknown, reason: string) => void calls.push(`event ${reason}`) } as never
  const pass = createRolloutPass({ cluster, clock: new FakeClock(), events })
  async function run(error: Error | null): Promise<void> {
    failing = error
    await pass(key, signal, silentLogger)
  }
  async function fail(times: number, error: Error): Promise<void> {
    for (let time = 0; time < times; time++) await expect(run(error)).rejects.toBe(error)
  }
  return world
}

function releaseWorld(record: Parameters<typeof recordingPort>[0] = {}): {
  readonly port: RecordingPort
  fail(times: number): Promise<void>
} {
  const port = recordingPort(record)
  const { fleet: _read, ...reading } = port.reading!
  port.reading = Object.defineProperty(reading as typeof reading & Pick<RolloutReading, 'fleet'>, 'fleet', {
    enumerable: true,
    get() {
      throw bug
    },
  })
  const run = createReleasePass({ cluster: port, clock: new FakeClock(), events: { record: () => {} } as never })
  return {
    port,
    async fail(times) {
      for (let time = 0; time < times; time++) await expect(run(key, signal, silentLogger)).rejects.toBe(bug)
    },
  }
}
