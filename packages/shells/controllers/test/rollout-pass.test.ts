import type { Rollout } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { createRolloutPass, type RolloutPort, type RolloutReading } from '@tranche/controllers'
import { ROLLOUT_FINALIZER } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import type { ReconcileResult } from '@tranche/reconcile'
import { describe, expect, it } from 'vitest'
import { aReading } from './recording-port.ts'

const key = { namespace: 'demo', name: 'agent' }
const deleted = { deletionTimestamp: '2023-11-14T00:00:00Z' }

describe('a pass over a Rollout', () => {
  it('does nothing when the Rollout is gone', async () => {
    expect(await pass(null)).toEqual({ outcome: { kind: 'awaitChange' }, calls: [] })
  })

  it('writes one thing, and rechecks at once', async () => {
    const { calls, outcome } = await pass(reading({ metadata: { finalizers: [] } }))
    expect(calls).toEqual(['setFinalizer true'])
    expect(outcome).toEqual({ kind: 'recheckAfter', ms: 0 })
  })

  it('records events only for a status that was stored', async () => {
    const stalled = { ...reading({}), daemonSet: undefined }
    expect((await pass(stalled)).calls).toEqual(['writeStatus Initial', 'event WorkloadNotFound on Rollout'])
    await expect(pass(stalled, new Error('conflict'))).rejects.toThrow('conflict')
  })

  it('records the frozen state on the DaemonSet and on the Rollout, once it is unbound', async () => {
    const { calls } = await pass(reading({ metadata: deleted }))
    expect(calls).toEqual(['releaseExists', 'patchDaemonSet', 'event Frozen on DaemonSet', 'event Frozen on Rollout'])
    await expect(pass(reading({ metadata: deleted }), new Error('conflict'))).rejects.toThrow('conflict')
  })

  it('does not detach while the API server has a BatchRelease that its watch has not shown (G9)', async () => {
    const { calls, outcome } = await pass(reading({ metadata: deleted }), undefined, true)
    expect(calls).toEqual(['releaseExists'])
    expect(outcome).toEqual({ kind: 'recheckAfter', ms: 500 })
  })

  it('waits for the watch after it has deleted its BatchRelease', async () => {
    const { calls, outcome } = await pass({ ...reading({ metadata: deleted }), release: aReading().release })
    expect(calls).toEqual(['deleteRelease'])
    expect(outcome).toEqual({ kind: 'awaitChange' })
  })

  it('deletes no BatchRelease that is not its own', async () => {
    const { release } = aReading()
    const foreign = { ...release, metadata: { ...release.metadata, ownerReferences: [] } }
    const { calls } = await pass({ ...reading({ metadata: deleted }), release: foreign })
    expect(calls[0]).toBe('patchDaemonSet')
  })
})

describe('config: Pin that the installation does not allow', () => {
  const pinning = { kind: 'found', policy: { metadata: { name: 'careful' }, spec: { config: 'Pin' } }, problems: [] } as never

  it.each<[sentence: string, volumes: readonly object[], held: string | undefined]>([
    ['holds nothing that reads no config', [], undefined],
    ['holds a template that reads config, and names it', [{ name: 'config', configMap: { name: 'settings' } }], 'ConfigMap settings'],
    ['holds a template that reads a Secret', [{ name: 'keys', secret: { secretName: 'keys' } }], 'Secret keys'],
  ])('%s', async (_sentence, volumes, held) => {
    const read = reading({})
    const { spec, metadata } = read.daemonSet!
    const template = { ...spec.template, spec: { ...spec.template.spec, volumes } }
    const bound = {
      ...metadata,
      annotations: { 'tranche.dev/rollout': key.name },
      labels: { 'rollouts.kruise.io/workload-type': 'daemonset' },
    }
    const daemonSet = { ...read.daemonSet!, metadata: bound, spec: { ...spec, template } } as never
    const written = await statusAfter({ ...read, daemonSet, policy: pinning, strategyScope: 'release' })
    const condition = written?.conditions?.find(({ type }) => type === 'ConfigUnversioned')
    expect(condition?.reason).toBe(held === undefined ? undefined : 'PinNotAllowed')
    if (held !== undefined) expect(condition?.message).toContain(held)
    expect(written?.conditions?.find(({ type }) => type === 'Stalled')?.status).toBe(held === undefined ? 'False' : 'True')
  })
})

/** The first status that passes write. */
async function statusAfter(read: RolloutReading): Promise<Rollout['status']> {
  let written: Rollout['status']
  const cluster = {
    read: () => read,
    setAnnotations: async () => {},
    patchDaemonSet: async () => {},
    async writeStatus(_rollout: Rollout, status: Rollout['status']) {
      written ??= status
    },
  } as unknown as RolloutPort
  const run = createRolloutPass({ cluster, clock: new FakeClock(), events: { record: () => {} } as never })
  await run(key, new AbortController().signal, silentLogger)
  return written
}

it('touches a DaemonSet without the ControllerRevision of its template every 30 s (G6)', async () => {
  const clock = new FakeClock()
  let read: RolloutReading = { ...reading({}), revisions: [] }
  const annotations = { 'tranche.dev/rollout': key.name }
  const labels = { 'rollouts.kruise.io/workload-type': 'daemonset' }
  const daemonSet = { ...read.daemonSet!, metadata: { ...read.daemonSet!.metadata, annotations, labels } }
  read = { ...read, daemonSet, strategyScope: 'release' }
  const touchedAtMs: number[] = []
  const cluster = {
    read: () => read,
    async writeStatus(rollout: Rollout, status: Rollout['status']) {
      read = { ...read, rollout: { ...rollout, status: status! } }
    },
    async setAnnotations(rollout: Rollout, annotations: Readonly<Record<string, string>>) {
      const kept = { ...rollout.metadata, annotations: { ...rollout.metadata.annotations, ...annotations } }
      read = { ...read, rollout: { ...rollout, metadata: kept } }
    },
    async patchDaemonSet(_daemonSet: unknown, patch: unknown) {
      if (JSON.stringify(patch).includes('touched')) touchedAtMs.push(clock.monotonicMs())
    },
  } as unknown as RolloutPort
  const run = createRolloutPass({ cluster, clock, events: { record: () => {} } as never })
  const startMs = clock.monotonicMs()
  for (let second = 0; second < 70; second++) {
    await run(key, new AbortController().signal, silentLogger)
    await run(key, new AbortController().signal, silentLogger)
    clock.advance(1_000)
  }
  expect(touchedAtMs.map((ms) => Math.round((ms - startMs) / 1_000))).toEqual([30, 60])
})

describe('a change of the DaemonSet that the API server rejects', () => {
  it.each<[status: number, said: number]>([
    [403, 1],
    [400, 1],
    [422, 1],
    [404, 0],
    [429, 0],
    [500, 0],
  ])('with %s is said %s time(s), and is tried in each other pass', async (status, said) => {
    const run = rejecting(new AppError('API_REFUSED', 'no\n such label', { details: { status } }))
    for (let n = 0; n < 4; n++) await run.pass()
    expect(run.stalls).toEqual(
      said === 0
        ? []
        : [
            'ChangeRejected: the API server rejects the patch of the DaemonSet that binds it to the Rollout: no such label; change the rule that rejects it',
          ],
    )
    expect(run.patches()).toBe(4 - said)
  })

  it('is a lost race where another write came first', async () => {
    const run = rejecting(new AppError('WRITE_CONFLICT', 'changed'))
    for (let n = 0; n < 4; n++) await run.pass()
    expect(run.stalls).toEqual([])
  })

  it('is said in other words only after a minute, so that no write of the status shortens the back-off', async () => {
    const run = rejecting(new AppError('API_REFUSED', 'first', { details: { status: 422 } }))
    await run.pass()
    await run.pass()
    run.fails = new AppError('API_REFUSED', 'second', { details: { status: 422 } })
    for (let n = 0; n < 5; n++) await run.pass()
    expect(run.stalls).toHaveLength(1)
    run.clock.advance(60_000)
    for (let n = 0; n < 3; n++) await run.pass()
    expect(run.stalls).toHaveLength(2)
    expect(run.stalls[1]).toContain('second')
  })

  it('is forgotten once it succeeds', async () => {
    const run = rejecting(new AppError('API_REFUSED', 'no', { details: { status: 403 } }))
    await run.pass()
    run.fails = undefined
    await run.pass()
    await run.pass()
    await run.pass()
    expect(run.stalls).toHaveLength(1)
    expect(run.patches()).toBe(3)
  })
})

interface Rejecting {
  readonly clock: FakeClock
  fails: Error | undefined
  readonly stalls: string[]
  patches(): number
  pass(): Promise<void>
}

/** A Rollout whose DaemonSet is never bound: each patch throws `fails`, or changes nothing. */
function rejecting(fails: Error): Rejecting {
  const clock = new FakeClock()
  let patches = 0
  let read = reading({})
  read = { ...read, daemonSet: { ...read.daemonSet!, metadata: { ...read.daemonSet!.metadata, annotations: {} } } }
  const cluster = {
    read: () => read,
    async patchDaemonSet() {
      patches++
      if (run.fails !== undefined) throw run.fails
    },
    async writeStatus(rollout: Rollout, status: NonNullable<Rollout['status']>) {
      const stalled = status.conditions?.find((one) => one.type === 'Stalled')
      run.stalls.push(`${stalled?.reason}: ${stalled?.message}`)
      read = { ...read, rollout: { ...rollout, status } }
    },
  } as unknown as RolloutPort
  const pass = createRolloutPass({ cluster, clock, events: { record: () => {} } as never })
  const run: Rejecting = {
    clock,
    fails,
    stalls: [],
    patches: () => patches,
    pass: () =>
      pass(key, new AbortController().signal, silentLogger).then(
        () => {},
        () => {},
      ),
  }
  return run
}

function reading({ metadata }: { metadata?: Partial<Rollout['metadata']> }): RolloutReading {
  const { daemonSet, revisions, fleet } = aReading()
  const rollout: Rollout = {
    metadata: {
      ...key,
      uid: 'rollout',
      resourceVersion: '3',
      generation: 1,
      finalizers: [ROLLOUT_FINALIZER],
      ...metadata,
    },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
      strategy: { canary: { steps: [{ replicas: '100%' }] } },
    },
  }
  return {
    rollout,
    daemonSet,
    revisions,
    fleet,
    former: undefined,
    release: undefined,
    others: [rollout],
    strategyScope: 'binding',
    policy: { kind: 'none' },
    kruise: null,
  }
}

async function pass(
  read: RolloutReading | null,
  fails?: Error,
  unseen = false,
): Promise<{ readonly outcome: ReconcileResult; readonly calls: readonly string[] }> {
  const calls: string[] = []
  const note = async (call: string): Promise<void> => {
    if (fails !== undefined) throw fails
    calls.push(call)
  }
  const cluster: RolloutPort = {
    read: () => read,
    async isNewest() {
      calls.push('isNewest')
      return false
    },
    async releaseExists() {
      calls.push('releaseExists')
      return unseen
    },
    setFinalizer: (_rollout, present) => note(`setFinalizer ${present}`),
    setAnnotations: (_rollout, annotations) => note(`setAnnotations ${Object.keys(annotations).join(' ')}`),
    patchDaemonSet: () => note('patchDaemonSet'),
    createRelease: () => note('createRelease'),
    updateRelease: () => note('updateRelease'),
    deleteRelease: () => note('deleteRelease'),
    writeStatus: (_rollout, status) => note(`writeStatus ${status.phase ?? ''}`),
  }
  const events = {
    record: ({ kind }: { readonly kind: string }, _type: unknown, reason: string) => void calls.push(`event ${reason} on ${kind}`),
  } as never
  const run = createRolloutPass({ cluster, clock: new FakeClock(), events })
  return { outcome: await run(key, new AbortController().signal, silentLogger), calls }
}
