import { type KubeObject, RECORDED_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import { noTracer, type TraceContext, type Tracer } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { traceWrites, type WatchedCluster } from '../src/index.ts'

type Handler = { readonly onChange?: (key: object, previous: KubeObject | undefined, current: KubeObject | undefined) => void }
const kinds = ['daemonSets', 'batchReleases', 'rollouts'] as const

it('a traced cluster shows the current state of each reflector', () => {
  const { cluster, seen } = setUp()
  const traced = traceWrites(cluster, { ...noTracer, isOn: true })
  seen.connectionChanges = 2
  expect(kinds.map((kind) => traced[kind].connectionChanges)).toEqual([2, 2, 2])
  expect([traced.nodes, traced.overlay.policies]).toEqual([cluster.nodes, cluster.overlay.policies])
})

it('a traced cluster is the cluster itself if tracing is off', () => {
  const { cluster } = setUp()
  expect(traceWrites(cluster, noTracer)).toBe(cluster)
})

it.each(kinds)('a traced cluster runs every handler of %s in the trace of the write whose echo it receives, and of no other', (kind) => {
  const { traced, heard, change, learned, within } = tracing(kind)
  within('our write', () => traced.overlay[kind].learn(objectAt('7') as never))
  traced.overlay[kind].learn(objectAt('8') as never)
  expect(learned).toEqual(['7', '8'])
  change(objectAt('6'), objectAt('7'))
  change(objectAt('7'), objectAt('8'))
  change(objectAt('7', { uid: 'another' }), objectAt('7', { uid: 'another' }))
  change(objectAt('8'), undefined)
  expect(heard).toEqual(['our write: 7', 'none: 8', 'none: 7', 'none: gone'])
})

it('a traced cluster runs handlers in the trace of a recorded action, once, for any writer', () => {
  const { heard, change } = tracing('rollouts')
  const [none, one, two] = [objectAt('1'), objectAt('2', { actions: ['a'] }), objectAt('3', { actions: ['a', 'b'] })]
  const other = objectAt('4', { actions: ['a', 'b'] })
  const shorter = objectAt('5', { actions: ['b'] })
  const three = objectAt('7', { actions: ['a', 'b', 'c'] })
  change(undefined, one)
  change(none, one)
  change(one, two)
  change(two, other)
  change(other, shorter)
  change(shorter, objectAt('6'))
  change(other, three)
  expect(heard).toEqual(['none: 2', `${traceOf('a')}: 2`, `${traceOf('b')}: 3`, 'none: 4', 'none: 5', 'none: 6', `${traceOf('c')}: 7`])
})

it('a traced cluster remembers the last 256 writes without an echo', () => {
  const { traced, heard, change, within } = tracing('daemonSets')
  for (let version = 1; version <= 257; version++)
    within(`write ${version}`, () => traced.overlay.daemonSets.learn(objectAt(String(version)) as never))
  for (const version of [1, 2, 257]) change(objectAt('0'), objectAt(String(version)))
  expect(heard).toEqual(['none: 1', 'write 2: 2', 'write 257: 257'])
})

/** A cluster whose reflectors are one, set by hand. */
function setUp() {
  const seen = { connectionChanges: 0 }
  const handlers: Handler[] = []
  const learned: (string | undefined)[] = []
  const reflector = {
    get connectionChanges() {
      return seen.connectionChanges
    },
    subscribe: (handler: Handler) => void handlers.push(handler),
  }
  const overlay = { get: () => undefined, learn: (object: KubeObject) => void learned.push(object.metadata.resourceVersion) }
  const ofEach = <T>(one: T) => ({ daemonSets: one, batchReleases: one, rollouts: one })
  const cluster = { ...ofEach(reflector), nodes: {}, overlay: { ...ofEach(overlay), policies: overlay } } as unknown as WatchedCluster
  return { cluster, seen, handlers, learned }
}

/** The same cluster with a tracer, and what a handler of one kind hears: after which trace, of which version. */
function tracing(kind: (typeof kinds)[number]) {
  const { cluster, handlers, learned } = setUp()
  let active: TraceContext | undefined
  const within = <T>(trace: TraceContext | undefined, act: () => T): T => {
    const outer = active
    active = trace
    try {
      return act()
    } finally {
      active = outer
    }
  }
  const tracer: Tracer = { ...noTracer, isOn: true, current: () => active, after: within }
  const traced = traceWrites(cluster, tracer)
  const heard: string[] = []
  traced[kind].subscribe({
    onChange: (_key, _previous, current) => void heard.push(`${active ?? 'none'}: ${current?.metadata.resourceVersion ?? 'gone'}`),
  })
  const change = (previous: KubeObject | undefined, current: KubeObject | undefined): void => {
    for (const { onChange } of handlers) onChange?.({ namespace: 'demo', name: 'agent' }, previous, current)
  }
  return { traced, heard, change, learned, within }
}

function objectAt(resourceVersion: string, { uid = 'uid-1', actions = [] as readonly string[] } = {}): KubeObject {
  const records = actions.map((id) => ({ id, type: 'approve', at: '2024-01-01T00:00:00Z', by: 'jane', via: 'rest', trace: traceOf(id) }))
  const annotations = { [RECORDED_ACTIONS_ANNOTATION]: JSON.stringify(records) }
  return { metadata: { namespace: 'demo', name: 'agent', uid, resourceVersion, ...(actions.length > 0 && { annotations }) } }
}

function traceOf(id: string): TraceContext {
  return `00-${id.repeat(32)}-${id.repeat(16)}-01`
}
