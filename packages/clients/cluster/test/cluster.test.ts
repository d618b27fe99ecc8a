import { type BatchRelease, customResourceDefinitions, type FlightRecord } from '@tranche/api-schema'
import { VirtualClock } from '@tranche/clock'
import { createOverlayStore, createTouchValues, readSchemaGap, touchPod, writeRecord } from '@tranche/cluster'
import { createKubeClient, createReflector, type KubeClient, KubeStatusError, resourcePaths } from '@tranche/kube-client'
import type { KubeObject, Pod } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator } from '@tranche/sim'
import { ApiStatusError, type FaultInjector } from '@tranche/sim-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { driveOn } from './sim-stage.ts'

const key = { namespace: 'demo', name: 'agent' }
const signal = new AbortController().signal
let clock: VirtualClock
let client: KubeClient
let faults: FaultInjector
let stop: () => void

beforeEach(async () => {
  clock = new VirtualClock()
  faults = {}
  const onRequest: FaultInjector['onRequest'] = (call) => faults.onRequest?.(call)
  const simulator = createSimulator({ clock, nodes: 0, watchDelayMs: { min: 50, max: 50 }, faults: { onRequest } })
  stop = () => simulator.stop()
  client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'test/1', log: silentLogger, seed: 1 })
  for (const definition of customResourceDefinitions) await drive(client.create(resourcePaths.customResourceDefinitions, definition))
  await drive(client.create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'demo' } }))
})

afterEach(() => stop())

it('touch values are unique, in one process and across processes (F7)', () => {
  const [one, other] = [createTouchValues('executor-1'), createTouchValues('executor-2')]
  const values = [one(), one(), other(), one(), other()]
  expect(new Set(values).size).toBe(values.length)
})

describe('touchPod', () => {
  it('reports a remaining pod with its version after the touch', async () => {
    const pod = await makePod()
    const answer = await touch(pod, 'a')
    const now = await drive(client.get<Pod>(resourcePaths.pods, key))
    expect(answer).toEqual({ kind: 'standing', resourceVersion: now.metadata.resourceVersion })
    expect(now.metadata.resourceVersion).not.toBe(pod.metadata.resourceVersion)
  })

  it('changes the version with every new value, so that a delete with the old version is refused', async () => {
    const pod = await makePod()
    const { uid, resourceVersion } = pod.metadata
    await touch(pod, 'a')
    await expect(drive(client.delete(resourcePaths.pods, key, { preconditions: { uid, resourceVersion } }))).rejects.toThrow()
  })

  it('reports a terminating pod as executed', async () => {
    const pod = await makePod(['example.com/hold'])
    await drive(client.delete(resourcePaths.pods, key))
    expect(await touch(pod, 'a')).toEqual({ kind: 'executed' })
  })

  it('reports a missing pod as executed', async () => {
    const pod = await makePod()
    await drive(client.delete(resourcePaths.pods, key, { gracePeriodSeconds: 0 }))
    expect(await touch(pod, 'a')).toEqual({ kind: 'executed' })
  })

  it('reports a replaced pod as executed, and does not change its replacement', async () => {
    const pod = await makePod()
    const other = { ...pod, metadata: { ...pod.metadata, uid: '00000000-0000-4000-8000-000000000000' } }
    expect(await touch(other, 'a')).toEqual({ kind: 'executed' })
    expect((await drive(client.get<Pod>(resourcePaths.pods, key))).metadata.resourceVersion).toBe(pod.metadata.resourceVersion)
  })

  it('reports unclear if the API server does not answer', async () => {
    const pod = await makePod()
    failWrites(500, 'InternalError')
    expect(await touch(pod, 'a')).toMatchObject({ kind: 'unclear' })
  })

  it('reports unclear if the response is lost, although the touch was made', async () => {
    const pod = await makePod()
    faults = { onRequest: ({ verb }) => (verb === 'patch' ? { kind: 'cut', when: 'after' } : undefined) }
    expect(await touch(pod, 'a')).toMatchObject({ kind: 'unclear' })
  })

  it('reports unclear if a policy refuses the touch as invalid, for a reason other than the uid', async () => {
    const pod = await makePod()
    failWrites(422, 'Invalid')
    expect(await touch(pod, 'a')).toMatchObject({ kind: 'unclear' })
  })

  it('reports unclear if a policy refuses the touch as invalid because of another field', async () => {
    const pod = await makePod()
    const causes = [{ field: 'metadata.annotations', message: 'no', reason: 'FieldValueForbidden' }]
    faults = {
      onRequest: ({ verb }) =>
        verb === 'patch' ? { kind: 'error', error: new ApiStatusError(422, 'Invalid', 'no', { causes }) } : undefined,
    }
    expect(await touch(pod, 'a')).toMatchObject({ kind: 'unclear' })
  })

  it('reports unclear if a policy refuses the touch', async () => {
    const pod = await makePod()
    failWrites(403, 'Forbidden')
    expect(await touch(pod, 'a')).toMatchObject({ kind: 'unclear' })
  })
})

describe('readSchemaGap', () => {
  const serving = (text: () => Promise<string>): KubeClient => ({ ...client, text })
  const openApi = (kind: string, fields: object): string => {
    const id = {
      group: kind === 'ReleasePolicy' ? 'tranche.dev' : 'rollouts.kruise.io',
      version: kind === 'ReleasePolicy' ? 'v1alpha1' : 'v1beta1',
    }
    const other = { 'x-kubernetes-group-version-kind': [{ ...id, kind: `${kind}List` }] }
    return JSON.stringify({
      components: {
        schemas: {
          other,
          own: {
            'x-kubernetes-group-version-kind': [
              { ...id, kind: 'Another' },
              { ...id, kind },
            ],
            ...fields,
          },
        },
      },
    })
  }

  it('finds nothing missing if current definitions are served', async () => {
    expect(await drive(readSchemaGap(client, signal))).toBeNull()
  })

  it.each([
    ['Rollout', 'apiVersion, kind, metadata and 2 more'],
    ['ReleasePolicy', 'apiVersion, kind, metadata and 2 more'],
  ])('names some of the fields of a %s that would be dropped, and counts the others', async (kind, fields) => {
    const older = serving(async () => openApi(kind, { properties: {} }))
    expect(await readSchemaGap(older, signal)).toBe(
      `the CustomResourceDefinitions are outdated, so the API server drops fields: ${kind} lacks ${fields}; apply those of this version`,
    )
  })

  it('names a rule of a policy that an older definition drops', async () => {
    const { properties } = customResourceDefinitions.find(({ spec }) => spec.names.kind === 'ReleasePolicy')!.spec.versions[0]!.schema
      .openAPIV3Schema
    const spec = structuredClone(properties!['spec']!) as { properties: Record<string, unknown> }
    delete spec.properties['soak']
    const older = serving(async () => openApi('ReleasePolicy', { properties: { ...properties, spec } }))
    expect(await readSchemaGap(older, signal)).toContain('ReleasePolicy lacks spec.soak; apply')
  })

  it('does not report a definition that is entirely absent', async () => {
    expect(
      await readSchemaGap(
        serving(async () => JSON.stringify({ components: { schemas: {} } })),
        signal,
      ),
    ).toBeNull()
  })

  it('reports nothing if no schemas are published yet', async () => {
    const missing = new KubeStatusError({ status: 404, reason: 'NotFound', attempt: 'GET /openapi/v3' })
    expect(
      await readSchemaGap(
        serving(() => Promise.reject(missing)),
        signal,
      ),
    ).toBeNull()
  })

  it('throws if the API server does not answer', async () => {
    await expect(
      readSchemaGap(
        serving(() => Promise.reject(new Error('cut off'))),
        signal,
      ),
    ).rejects.toThrow('cut off')
  })
})

describe('writeRecord', () => {
  it('writes the first record', async () => {
    const release = await makeRelease()
    expect((await write(release, aRecord(1)))?.status?.flight).toEqual(aRecord(1))
  })

  it('lets one of two first records win', async () => {
    const release = await makeRelease()
    expect(await write(release, aRecord(1))).not.toBeNull()
    expect(await write(release, aRecord(1))).toBeNull()
  })

  it('lets one of two writers that read the same record win', async () => {
    const release = (await write(await makeRelease(), aRecord(1)))!
    const ends = await drive(
      Promise.all([writeRecord(client, release, aRecord(2), signal), writeRecord(client, release, aRecord(2), signal)]),
    )
    expect(ends.filter((end) => end !== null)).toHaveLength(1)
  })

  it('reports an outdated CustomResourceDefinition if the record is dropped', async () => {
    const release = await makeRelease()
    const { flight: _pruned, ...status } = release.status ?? {}
    const pruning: KubeClient = { ...client, patch: async <T>() => ({ ...release, status }) as T }
    await expect(writeRecord(pruning, release, aRecord(1), signal)).rejects.toMatchObject({ code: 'CRD_OUTDATED' })
  })

  it('writes even if other parts of the status have changed since', async () => {
    const release = (await write(await makeRelease(), aRecord(1)))!
    const body = { status: { message: 'meanwhile' } }
    await drive(client.patch(resourcePaths.batchReleases, key, { type: 'merge', body }, { subresource: 'status' }))
    expect((await write(release, aRecord(2)))?.status).toMatchObject({ message: 'meanwhile', flight: { seq: 2 } })
  })

  it('writes an exact record with changes of the status, and not once anything else has changed (F9)', async () => {
    const release = (await write(await makeRelease(), aRecord(1)))!
    const message = { op: 'add', path: '/status/message', value: 'opened' } as const
    const exact = (read: BatchRelease, seq: number): ReturnType<typeof writeRecord> =>
      drive(writeRecord(client, read, aRecord(seq), signal, [message]))
    const written = await exact(release, 2)
    expect(written?.status).toMatchObject({ message: 'opened', flight: { seq: 2 } })
    await drive(client.patch(resourcePaths.batchReleases, key, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } }))
    expect(await exact(written!, 3)).toBeNull()
  })

  it('does not write to a recreated or deleted BatchRelease', async () => {
    const release = (await write(await makeRelease(), aRecord(1)))!
    await drive(client.delete(resourcePaths.batchReleases, key))
    expect(await write(release, aRecord(2))).toBeNull()
    await makeRelease()
    expect(await write(release, aRecord(2))).toBeNull()
  })

  it('rethrows an error of the API server', async () => {
    const release = await makeRelease()
    failWrites(403, 'Forbidden')
    await expect(write(release, aRecord(1))).rejects.toThrow()
  })
})

describe('newest', () => {
  it('keeps the newer of two responses, whichever comes last, unless the object was recreated', () => {
    const object = (uid: string, resourceVersion: string): KubeObject => ({ metadata: { ...key, uid, resourceVersion } })
    const store = { get: () => undefined }
    const overlay = createOverlayStore<KubeObject>({ store, positionOf: () => '5', listsOf: () => ({ begun: 1, done: 1 }) } as never)
    const seen = [object('a', '20'), object('a', '10'), object('a', '30'), object('b', '15'), object('b', '5')].map((one) => {
      overlay.learn(one)
      const { uid, resourceVersion } = overlay.get(key)?.metadata ?? {}
      return `${uid} ${resourceVersion}`
    })
    expect(seen).toEqual(['a 20', 'a 20', 'a 30', 'b 15', 'b 15'])
  })

  it('shows the response to a write until the watch has it, and then the state of the watch', async () => {
    const release = await makeRelease()
    const reflector = createReflector<BatchRelease, BatchRelease>({
      client,
      clock,
      log: silentLogger,
      resource: resourcePaths.batchReleases,
      transform: (object) => object,
    })
    const ending = new AbortController()
    const ended = reflector.start(ending.signal).catch(() => {})
    await drive(reflector.whenSynced(ending.signal))
    const overlay = createOverlayStore(reflector)
    expect(overlay.get(key)?.metadata.resourceVersion).toBe(release.metadata.resourceVersion)

    const written = (await write(release, aRecord(1)))!
    overlay.learn(written)
    expect(reflector.store.get(key)?.status).toBeUndefined()
    expect(overlay.get(key)).toBe(written)

    await write(written, aRecord(2))
    await clock.run({ untilMs: clock.monotonicMs() + 1_000 })
    expect(overlay.get(key)?.status?.flight?.seq).toBe(2)

    await drive(client.delete(resourcePaths.batchReleases, key))
    await clock.run({ untilMs: clock.monotonicMs() + 1_000 })
    expect(overlay.get(key)).toBeUndefined()
    ending.abort()
    await drive(ended)
  })
})

function drive<T>(promise: Promise<T>): Promise<T> {
  return driveOn(clock, promise)
}

async function makePod(finalizers: readonly string[] = []): Promise<Pod> {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...key, finalizers },
    spec: { containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] },
  }
  return (await drive(client.create(resourcePaths.pods, pod))) as unknown as Pod
}

async function makeRelease(): Promise<BatchRelease> {
  const release = {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'BatchRelease',
    metadata: key,
    spec: { releasePlan: { enableExtraWorkloadForCanary: false } },
  }
  return (await drive(client.create(resourcePaths.batchReleases, release))) as unknown as BatchRelease
}

function touch(pod: Pod, value: string): ReturnType<typeof touchPod> {
  return drive(touchPod(client, { ...key, uid: pod.metadata.uid }, value, signal))
}

function write(release: BatchRelease, record: FlightRecord): ReturnType<typeof writeRecord> {
  return drive(writeRecord(client, release, record, signal))
}

function aRecord(seq: number): FlightRecord {
  const scope = { workloadUid: 'daemonset', generation: 1, revision: 'new', size: 9, partition: 0, limit: 1 }
  return { ...scope, epoch: 1, seq, state: 'stopped', holds: [], watermark: '1', permits: [] }
}

/** Answers every patch from now on with this error. */
function failWrites(code: number, reason: string): void {
  faults = { onRequest: ({ verb }) => (verb === 'patch' ? { kind: 'error', error: new ApiStatusError(code, reason, reason) } : undefined) }
}
