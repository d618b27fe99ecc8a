import type { BatchRelease } from '@tranche/api-schema'
import type { WatchedCluster } from '@tranche/cluster'
import { expect, it } from 'vitest'
import { wakeByWatches, type Woken } from '../src/wake.ts'

const waits = { waiting: { reason: 'GroupBusy' } }

it.each<[sentence: string, changed: Partial<Parts>, woken: readonly string[]]>([
  ['of its namespace wakes those that wait for it', { status: { flight: { state: 'open', permits: [] } } }, ['demo/same']],
  [
    'across namespaces wakes those that wait for its Lease',
    { status: { groupLease: 'tranche-group.agents' } },
    ['demo/same', 'other/shared'],
  ],
  ['of another name wakes none', { group: 'another', status: { flight: { state: 'open', permits: [] } } }, []],
  ['of another namespace wakes none', { namespace: 'team-a', status: { flight: { state: 'open', permits: [] } } }, []],
])('a change in a group %s', (_sentence, changed, woken) => {
  const waiting = [
    aRelease({ name: 'same', status: waits }),
    aRelease({ name: 'third', group: 'third', status: waits }),
    aRelease({ namespace: 'other', name: 'shared', status: { ...waits, groupLease: 'tranche-group.agents' } }),
  ]
  expect(wokenBy(aRelease(changed), waiting)).toEqual(woken)
})

interface Parts {
  readonly namespace: string
  readonly name: string
  readonly group: string
  readonly status: object
}

function aRelease({ namespace = 'demo', name = 'changed', group = 'agents', status = {} }: Partial<Parts>): BatchRelease {
  return { metadata: { namespace, name, uid: `${namespace}/${name}` }, spec: { tranche: { downtime: { group } } }, status } as never
}

function keyOfGroup({ metadata, spec }: BatchRelease): string {
  return `${metadata.namespace}/${spec.tranche?.downtime?.group}`
}

/** Keys of the other releases that wake when this one is changed. */
function wokenBy(changed: BatchRelease, waiting: readonly BatchRelease[]): readonly string[] {
  let change = (_current: BatchRelease): void => {}
  const silent = { store: { list: () => [] }, subscribe: () => {} }
  const batchReleases = {
    store: {
      list: () => waiting,
      byIndex: (_index: string, value: string) => waiting.filter((one) => [keyOfGroup(one), one.status?.groupLease].includes(value)),
    },
    subscribe: ({ onChange }: { onChange: (key: object, previous: undefined, current: BatchRelease) => void }) => {
      change = (current) => onChange(current.metadata, undefined, current)
    },
  }
  const cluster = { batchReleases, daemonSets: silent, rollouts: silent, revisions: silent, pods: silent, policies: silent, nodes: silent }
  const keys: string[] = []
  const none = (): void => {}
  const woken: Woken = {
    rollout: none,
    release: (key) => void keys.push(key),
    notify: none,
    rolloutSoon: none,
    releaseSoon: none,
    analysis: none,
    policy: none,
  }
  wakeByWatches({ ...cluster, kruise: { subscribe: none } } as unknown as WatchedCluster, woken)
  change(changed)
  return keys.filter((key) => key !== 'demo/changed' && key !== 'team-a/changed')
}
