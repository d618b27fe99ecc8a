import { VirtualClock } from '@tranche/clock'
import {
  createKubeClient,
  createReflector,
  isConflict,
  isInvalid,
  isNotFound,
  resourcePaths,
  testResourceVersion,
} from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { ApiStatusError, createApiServer, createHttpFront, type FaultInjector, inProcessExchange } from '@tranche/sim-api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const configMaps = { group: '', version: 'v1', plural: 'configmaps', namespaced: true }
const names = ['a', 'b', 'c', 'd']
/** Longer than the idle timeout, the longest back-off and a bookmark interval together. */
const LONG_ENOUGH_MS = 150_000 + 4 * 30_000 + 120_000

type Operation =
  | readonly ['put' | 'remove' | 'remake', number, number]
  | readonly ['wait', number, number]
  | readonly ['compact', number, number]

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom('put', 'remove', 'remake'), fc.nat(3), fc.nat(99)) },
  { weight: 3, arbitrary: fc.tuple(fc.constant('wait'), fc.oneof(fc.nat(50), fc.nat(3_000)), fc.constant(0)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('compact'), fc.constant(0), fc.constant(0)) },
)

describe('against the simulator, over its wire form and on virtual time', () => {
  it('a reflector equals the server after any writes and any faults', async () => {
    const story = fc.record({
      operations: fc.array(operation, { maxLength: 40, size: 'max' }),
      luck: fc.array(fc.nat(99), { minLength: 8, maxLength: 40, size: 'max' }),
    })
    await fc.assert(
      fc.asyncProperty(story, fc.nat(), async ({ operations, luck }, seed) => {
        const cluster = startCluster(seed)
        const reflector = createReflector<string, ConfigMap>({
          client: cluster.watched,
          resource: configMaps,
          scope: { namespace: 'default' },
          transform: (map) => `${map.metadata.name} ${map.metadata.uid} ${map.data?.['value'] ?? ''}`,
          clock: cluster.clock,
          log: silentLogger,
          seed,
        })
        const run = reflector.start()
        cluster.server.useFaults(unluckyFor('watched', luck))
        for (const one of operations) await cluster.during(perform(cluster, one))
        cluster.server.useFaults(undefined)
        await cluster.passTime(LONG_ENOUGH_MS)

        const held = await cluster.during(cluster.writer.list<ConfigMap>(configMaps, { namespace: 'default' }))
        const want = held.items.map((map) => `${map.metadata.name} ${map.metadata.uid} ${map.data?.['value'] ?? ''}`)
        expect(reflector.store.list().toSorted((a, b) => a.localeCompare(b))).toEqual(want.toSorted((a, b) => a.localeCompare(b)))
        reflector.stop()
        await cluster.during(run)
      }),
      { numRuns: 60 },
    )
  })

  it('a client creates, reads, patches with a test, meets conflicts, and deletes with preconditions', async () => {
    const { writer, during } = startCluster(1)
    const key = { namespace: 'default', name: 'a' }
    const failure = (promise: Promise<unknown>) =>
      during(
        promise.then(
          () => undefined,
          (error: unknown) => error,
        ),
      )
    const created = await during(writer.create(configMaps, configMap('a', 1)))
    expect(isConflict(await failure(writer.create(configMaps, configMap('a', 1))))).toBe(true)
    const { resourceVersion, uid } = created.metadata
    const patch = {
      type: 'json',
      body: [testResourceVersion(resourceVersion), { op: 'replace', path: '/data/value', value: '2' }],
    } as const
    const patched = await during(writer.patch<ConfigMap>(configMaps, key, patch))
    expect(patched.data).toEqual({ value: '2' })
    expect(isInvalid(await failure(writer.patch(configMaps, key, patch)))).toBe(true)
    expect(isConflict(await failure(writer.update(configMaps, created)))).toBe(true)
    expect(isConflict(await failure(writer.delete(configMaps, key, { preconditions: { uid, resourceVersion } })))).toBe(true)
    await during(writer.delete(configMaps, key, { preconditions: { uid, resourceVersion: patched.metadata.resourceVersion } }))
    expect(isNotFound(await failure(writer.get(configMaps, key)))).toBe(true)
  })

  it('a list of more than one chunk is whole', async () => {
    const { writer, during } = startCluster(1)
    for (let i = 0; i < 1_001; i++) await during(writer.create(configMaps, configMap(`map-${i}`, i)))
    const listed = await during(writer.list<string>(configMaps, { transform: (map) => map.metadata.name }))
    expect(new Set(listed.items).size).toBe(1_001)
  })

  it('a client of the constants reaches every built-in resource', async () => {
    const { writer, during } = startCluster(1)
    const { rollouts: _rollouts, batchReleases: _batchReleases, releasePolicies: _policies, ...builtIn } = resourcePaths
    for (const resource of Object.values(builtIn)) expect((await during(writer.list(resource))).resourceVersion).toMatch(/^\d+$/)
  })
})

function startCluster(seed: number) {
  const clock = new VirtualClock()
  const server = createApiServer({ clock, seed, watchDelayMs: { min: 0, max: 20 } })
  const front = createHttpFront(server, {
    tokens: { writer: { name: 'writer', groups: ['system:masters'] }, watched: { name: 'watched', groups: ['system:masters'] } },
    clock,
  })
  const clientOf = (token: string) =>
    createKubeClient({ exchange: inProcessExchange(front, token), clock, userAgent: `${token}/1`, log: silentLogger, seed })

  /** Lets the clock run until `work` is done. */
  async function during<T>(work: Promise<T>): Promise<T> {
    let settled = false
    const note = (): void => void (settled = true)
    work.then(note, note)
    await clock.run({ done: () => settled })
    return work
  }

  async function passTime(ms: number): Promise<void> {
    const untilMs = clock.monotonicMs() + ms
    let passed = false
    clock.setTimer(ms, () => (passed = true))
    await clock.run({ done: () => passed, untilMs })
  }

  return { clock, server, writer: clientOf('writer'), watched: clientOf('watched'), during, passTime }
}

type Cluster = ReturnType<typeof startCluster>

async function perform({ server, writer, clock }: Cluster, [what, which, value]: Operation): Promise<void> {
  const name = names[which] ?? ''
  const key = { namespace: 'default', name }
  if (what === 'wait') return new Promise((resolve) => void clock.setTimer(which, resolve))
  if (what === 'compact') return server.compact()
  const there = await writer.get<ConfigMap>(configMaps, key).catch(() => undefined)
  if (there !== undefined && what !== 'put') await writer.delete(configMaps, key)
  if (what === 'remove') return
  if (there !== undefined && what === 'put') await writer.update(configMaps, { ...there, data: { value: String(value) } })
  else await writer.create(configMaps, configMap(name, value))
}

function configMap(name: string, value: number) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name }, data: { value: String(value) } }
}

/** Breaks about every third request and event of one actor, as its luck has it. */
function unluckyFor(actor: string, luck: readonly number[]): FaultInjector {
  let turn = 0
  const draw = (): number => luck[turn++ % luck.length]!
  return {
    onRequest(call) {
      if (call.actor !== actor) return undefined
      const drawn = draw()
      if (drawn < 10) return { kind: 'error', error: new ApiStatusError(503, 'ServiceUnavailable', 'not now') }
      if (drawn < 20) return { kind: 'cut', when: 'before' }
      return drawn < 30 ? { kind: 'delay', ms: drawn * 1_000, when: 'after' } : undefined
    },
    onEvent(event) {
      if (event.actor !== actor) return undefined
      const drawn = draw()
      if (drawn < 10) return { kind: 'cut' }
      if (drawn < 20) return { kind: 'gap' }
      if (drawn < 25) return { kind: 'stall', ms: Number.POSITIVE_INFINITY }
      return drawn < 35 ? { kind: 'delay', ms: drawn * 10 } : undefined
    },
  }
}
