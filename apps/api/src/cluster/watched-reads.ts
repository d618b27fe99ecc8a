import type { EventReport } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { ownedRevisions, type WatchedCluster } from '@tranche/cluster'
import type { Reflector } from '@tranche/kube-client'
import { type DaemonSet, daemonSetAnnotations, keyOf, keyText, type ObjectKey } from '@tranche/kube-types'
import {
  explainNode,
  explainRollout,
  type ReleaseFacts,
  reportBatches,
  reportHistory,
  reportNodes,
  reportRevisions,
  reportRollout,
  summarizeRollout,
} from '@tranche/reports'
import { newestFirst, templateOfRevision, watchedFacts, workloadKey } from '@tranche/steering'
import { LRUCache } from 'lru-cache'
import type { ReleaseReads } from '../release-reads.ts'
import type { KeptEvent } from './events-watch.ts'

/** What is read from. */
export interface WatchedReadsParts {
  readonly cluster: WatchedCluster
  readonly events: Reflector<KeptEvent>
  readonly clock: Clock
}

/** A report counts for so long while nothing changes, in milliseconds: parts of it hang on the time. */
const FRESH_MS = 1_000
/** Reports that are kept; those of nodes are large. */
const REPORTS = 1_000
const NODE_LISTS = 32

/** Reads over watches. A report that is asked for again is made again only where something has changed. */
export function createWatchedReads({ cluster, events, clock }: WatchedReadsParts): ReleaseReads {
  const factsOf = (key: ObjectKey): ReleaseFacts | undefined => watchedFacts(cluster, clock, key)
  const told = <T>(key: ObjectKey, tell: (facts: ReleaseFacts) => T): T | undefined => {
    const facts = factsOf(key)
    return facts === undefined ? undefined : tell(facts)
  }
  const remembered = <T extends object>(most: number, make: (facts: ReleaseFacts) => T): ((key: ObjectKey) => T | undefined) => {
    const known = new LRUCache<string, { readonly facts: ReleaseFacts; readonly made: T }>({ max: most })
    return (key) =>
      told(key, (facts) => {
        const text = keyText(key)
        const before = known.get(text)
        if (before !== undefined && isSame(before.facts, facts)) return before.made
        const made = make(facts)
        known.set(text, { facts, made })
        return made
      })
  }

  function eventsAbout(key: ObjectKey): readonly EventReport[] | undefined {
    const rollout = cluster.rollouts.store.get(key)
    if (rollout === undefined) return undefined
    const objects = [`Rollout/${key.name}`, `BatchRelease/${key.name}`, `DaemonSet/${rollout.spec.workloadRef.name}`]
    const about = objects.flatMap((object) => events.store.byIndex('object', `${key.namespace}/${object}`))
    return [...about].sort(newestFirst).map(({ report }) => report)
  }

  return {
    keys: () => cluster.rollouts.store.list().map(keyOf),
    summary: remembered(REPORTS, summarizeRollout),
    report: remembered(REPORTS, reportRollout),
    nodes: remembered(NODE_LISTS, reportNodes),
    explainNode: (key, node) => told(key, (facts) => explainNode(facts, node)),
    explain: (key) => told(key, explainRollout),
    batches: (key) => told(key, reportBatches),
    revisions: (key) => told(key, reportRevisions),
    template: (key, revision) => told(key, (facts) => templateOfRevision(facts, revision)),
    history: (key) => told(key, reportHistory),
    events: eventsAbout,
    rolloutOf: (key) => rolloutOf(cluster.daemonSets.store.get(key)),
    daemonSetHistory(key, withRollout) {
      const facts = factsOfDaemonSet({ cluster, clock }, key, withRollout)
      return facts === undefined ? undefined : reportHistory(facts)
    },
  }
}

/** The same objects, a moment later. */
function isSame(before: ReleaseFacts, now: ReleaseFacts): boolean {
  if (now.nowMs - before.nowMs > FRESH_MS || now.nowMs < before.nowMs) return false
  const { rollout, release, daemonSet, fleet, revisions } = now
  if (rollout !== before.rollout || release !== before.release || daemonSet !== before.daemonSet || fleet !== before.fleet) return false
  return revisions.length === before.revisions.length && revisions.every((revision, at) => revision === before.revisions[at])
}

function rolloutOf(daemonSet: DaemonSet | undefined): ObjectKey | undefined {
  const { namespace = '', annotations } = daemonSet?.metadata ?? {}
  const name = annotations?.[daemonSetAnnotations.rollout]
  return name === undefined ? undefined : { namespace, name }
}

/** One that no Rollout names, or whose Rollout is not to be told of, is seen as a Rollout would see it that has never been looked at. */
function factsOfDaemonSet(
  { cluster, clock }: Pick<WatchedReadsParts, 'cluster' | 'clock'>,
  key: ObjectKey,
  withRollout: boolean,
): ReleaseFacts | undefined {
  const daemonSet = cluster.daemonSets.store.get(key)
  if (daemonSet === undefined) return undefined
  const rollout = withRollout ? rolloutOf(daemonSet) : undefined
  const bound = rollout === undefined ? undefined : watchedFacts(cluster, clock, rollout)
  if (bound !== undefined && keyText(workloadKey(bound.rollout)) === keyText(key)) return bound
  return {
    rollout: {
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'Rollout',
      metadata: { ...key, uid: '', resourceVersion: '' },
      spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: key.name }, strategy: {} },
    },
    release: undefined,
    daemonSet,
    revisions: ownedRevisions(cluster, daemonSet),
    fleet: cluster.fleet.view(daemonSet),
    nowMs: clock.nowMs(),
    monotonicMs: clock.nowMs(),
  }
}
