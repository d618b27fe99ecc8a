import type { Rollout } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import type { WatchedCluster } from '@tranche/cluster'
import { type DaemonSet, daemonSetAnnotations, type ObjectKey } from '@tranche/kube-types'
import type { ReleaseFacts } from '@tranche/reports'
import { expect, it } from 'vitest'
import { createWatchedReads } from '../src/cluster/watched-reads.ts'
import { aSummary } from './fixtures.ts'

const COUNT = 2_000
const noFleet: NonNullable<ReleaseFacts['fleet']> = { nodes: [], desired: 0, blocks: [] }

/** A cluster with one DaemonSet, which is bound to the first of the Rollouts that name it. */
function watchedCluster() {
  const rollouts = new Map(Array.from({ length: COUNT }, (_, at) => [`r${at}`, aRollout(`r${at}`)]))
  const state = { rollouts, daemonSet: aDaemonSet('r0'), fleet: noFleet }
  const cluster = {
    rollouts: { store: { list: () => [...rollouts.values()], get: ({ name }: ObjectKey) => rollouts.get(name) } },
    daemonSets: { store: { get: () => state.daemonSet } },
    batchReleases: { store: { get: () => undefined } },
    revisions: { store: { byIndex: () => [] } },
    fleet: { view: () => state.fleet },
  } as unknown as WatchedCluster
  return { state, cluster }
}

/** Reads that note which Rollouts are summarized. */
function readsOver(fields: Parameters<typeof aSummary>[0] = {}) {
  const { state, cluster } = watchedCluster()
  const clock = new FakeClock()
  const summarized: string[] = []
  const summarize = ({ rollout }: ReleaseFacts) => {
    summarized.push(rollout.metadata.name)
    return aSummary({ name: rollout.metadata.name, ...fields })
  }
  const reads = createWatchedReads({ cluster, events: undefined as never, clock, summarize })
  const readAll = (): readonly string[] => {
    summarized.length = 0
    for (const key of reads.keys()) reads.summary(key)
    return [...summarized]
  }
  return { state, clock, readAll }
}

it('summarizes each Rollout once, however many there are and however long nothing changes', () => {
  const { clock, readAll } = readsOver()
  expect(readAll()).toHaveLength(COUNT)
  expect(readAll()).toEqual([])
  clock.advance(3_600_000)
  expect(readAll()).toEqual([])
})

it('summarizes a changed Rollout again, and that of a DaemonSet whose nodes or pods change', () => {
  const { state, readAll } = readsOver()
  readAll()
  state.rollouts.set('r7', aRollout('r7'))
  expect(readAll()).toEqual(['r7'])
  state.fleet = { ...noFleet }
  expect(readAll()).toEqual(['r0'])
})

it('summarizes every Rollout of a DaemonSet again when another one is bound to it, because each names that one', () => {
  const { state, readAll } = readsOver()
  readAll()
  state.daemonSet = aDaemonSet('r5')
  expect(readAll()).toHaveLength(COUNT)
})

it.each([
  { what: 'releases', fields: { outcome: 'Running' } },
  { what: 'waits for a person', fields: { need: { reason: 'StepPaused', message: 'waits', actions: [] } } },
  { what: 'has a pod that becomes available', fields: { nodes: { ...aSummary().nodes, unavailable: 1 } } },
  { what: 'has an updated pod that becomes available', fields: { nodes: { ...aSummary().nodes, updatedAvailable: 9 } } },
] as const)('summarizes a Rollout that $what once a second', ({ fields }) => {
  const { clock, readAll } = readsOver(fields as never)
  readAll()
  clock.advance(1_000)
  expect(readAll()).toEqual([])
  clock.advance(1)
  expect(readAll()).toHaveLength(COUNT)
})

function aRollout(name: string): Rollout {
  const metadata = { namespace: 'demo', name, uid: name, resourceVersion: '1' }
  return { metadata, spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }, strategy: {} } } as never
}

function aDaemonSet(rollout: string): DaemonSet {
  const annotations = { [daemonSetAnnotations.rollout]: rollout }
  return { metadata: { namespace: 'demo', name: 'agent', uid: 'agent', resourceVersion: '1', annotations }, spec: {} } as never
}
