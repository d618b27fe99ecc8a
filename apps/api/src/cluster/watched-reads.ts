import type { EventReport, Rollout, RolloutSummary } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { ownedRevisions, type WatchedCluster } from '@tranche/cluster'
import { AppError } from '@tranche/errors'
import type { Reflector } from '@tranche/kube-client'
import { type DaemonSet, daemonSetAnnotations, keyOf, keyText, type ObjectKey } from '@tranche/kube-types'
import {
  explainNode,
  explainRollout,
  isTimeless,
  podOnNode,
  type ReleaseFacts,
  reportBatches,
  reportHistory,
  reportNodes,
  reportRevisions,
  reportRollout,
  summarizeRollout,
} from '@tranche/reports'
import { newestFirst, nodeObject, templateOfRevision, watchedFacts, workloadKey } from '@tranche/release-client'
import { bindingFault } from '@tranche/actions'
import { LRUCache } from 'lru-cache'
import type { NodeObjects, ReleaseReads, WorkloadAccess } from './release-reads.ts'
import type { KeptEvent } from './events-watch.ts'

/** Dependencies of {@link createWatchedReads}. */
export interface WatchedReadsParts {
  readonly cluster: WatchedCluster
  readonly events: Reflector<KeptEvent>
  readonly clock: Clock
  /** @default summarizeRollout */
  readonly summarize?: (facts: ReleaseFacts) => RolloutSummary
}

/** Lifetime of a cached report of unchanged objects, in milliseconds; parts of a report depend on the time. */
const FRESH_MS = 1_000
/** Maximum numbers of cached reports and node lists; node lists are large. Summaries have no maximum, because lists read them all. */
const REPORTS = 1_000
const NODE_LISTS = 32

/** Serves reads from watches. Caches reports until one of their objects changes. */
export function createWatchedReads(parts: WatchedReadsParts): ReleaseReads {
  const { cluster, summarize = summarizeRollout } = parts
  const facts: Read<ReleaseFacts> = (key, workloadAccess) => factsOf(parts, key, workloadAccess)
  const shown: Read<ReleaseFacts> = (key, workloadAccess) => ifFound(facts(key, workloadAccess), refuseHidden)
  const summary = createSummaries((key) => facts(key, 'bound'), summarize)
  return {
    keys: () => cluster.rollouts.store.list().map(keyOf),
    heads: () => cluster.rollouts.store.list().map((rollout) => ({ ...keyOf(rollout), phase: rollout.status?.phase ?? '' })),
    rollout: (key) => cluster.rollouts.store.get(key),
    unboundWorkload: (key) => unboundWorkload(cluster, key),
    summary,
    report: createCachedRead(facts, REPORTS, reportRollout),
    nodes: createCachedRead(facts, NODE_LISTS, (found) => reportNodes(refuseHidden(found))),
    explainNode: (key, node, workloadAccess) => ifFound(shown(key, workloadAccess), (found) => explainNode(found, node)),
    nodeObjects: (key, node, workloadAccess) => ifFound(shown(key, workloadAccess), (found) => nodeObjects(cluster, found, node)),
    explain: (key, workloadAccess) => ifFound(facts(key, workloadAccess), explainRollout),
    batches: (key, workloadAccess) => ifFound(shown(key, workloadAccess), reportBatches),
    revisions: (key, workloadAccess) => ifFound(shown(key, workloadAccess), reportRevisions),
    template: (key, revision, workloadAccess) => ifFound(shown(key, workloadAccess), (found) => templateOfRevision(found, revision)),
    history: (key, workloadAccess) => ifFound(shown(key, workloadAccess), reportHistory),
    events: (key, workloadAccess) => eventsAbout(parts, key, workloadAccess),
    rolloutOf: (key) => rolloutOf(cluster.daemonSets.store.get(key)),
    boundRolloutOf: (key) => boundRolloutOf(cluster, key),
    daemonSetHistory: (key, withRollout) => ifFound(factsOfDaemonSet(parts, key, withRollout), reportHistory),
  }
}

type Read<T> = (key: ObjectKey, workloadAccess: WorkloadAccess) => T | undefined

function ifFound<T>(facts: ReleaseFacts | undefined, read: (facts: ReleaseFacts) => T): T | undefined {
  return facts === undefined ? undefined : read(facts)
}

/** Keeps at most `most` results, each until one of its objects changes. */
function createCachedRead<T extends object>(factsOfKey: Read<ReleaseFacts>, most: number, make: (facts: ReleaseFacts) => T): Read<T> {
  const known = new LRUCache<string, { readonly facts: ReleaseFacts; readonly made: T }>({ max: most })
  return (key, workloadAccess) =>
    ifFound(factsOfKey(key, workloadAccess), (facts) => {
      const text = `${workloadAccess} ${keyText(key)}`
      const before = known.get(text)
      if (before !== undefined && isFresh(before.facts, facts) && hasSameObjects(before.facts, facts)) return before.made
      const made = make(facts)
      known.set(text, { facts, made })
      return made
    })
}

/**
 * Summarizes each Rollout once per change, and once per {@link FRESH_MS} if its summary depends on the time. Keeps one summary per watched
 * Rollout, for as long as the watch keeps the object: a limit below their number would make every list of all Rollouts miss.
 */
function createSummaries(
  factsOfKey: (key: ObjectKey) => ReleaseFacts | undefined,
  summarize: (facts: ReleaseFacts) => RolloutSummary,
): (key: ObjectKey) => RolloutSummary | undefined {
  const known = new WeakMap<Rollout, { readonly facts: ReleaseFacts; readonly made: RolloutSummary }>()
  return (key) =>
    ifFound(factsOfKey(key), (facts) => {
      const before = known.get(facts.rollout)
      const isKept =
        before !== undefined && hasSameObjects(before.facts, facts) && (isTimeless(before.made) || isFresh(before.facts, facts))
      if (isKept) return before.made
      const made = summarize(facts)
      known.set(facts.rollout, { facts, made })
      return made
    })
}

function factsOf({ cluster, clock }: WatchedReadsParts, key: ObjectKey, workloadAccess: WorkloadAccess): ReleaseFacts | undefined {
  const facts = watchedFacts(cluster, clock, key)
  return facts === undefined || workloadAccess === 'any' ? facts : boundFacts(facts)
}

/** Removes everything about a DaemonSet that is not bound to the Rollout. */
function boundFacts(facts: ReleaseFacts): ReleaseFacts {
  const { rollout, daemonSet } = facts
  const fault = daemonSet === undefined ? null : bindingFault(rollout, daemonSet)
  if (fault === null) return facts
  return { ...facts, daemonSet: undefined, revisions: [], fleet: undefined, notBound: `${fault.message}; ${fault.fix}` }
}

/**
 * @returns the facts
 * @throws {AppError} NOT_BOUND if the DaemonSet is hidden
 */
function refuseHidden(facts: ReleaseFacts): ReleaseFacts {
  const { rollout, notBound } = facts
  if (notBound === undefined) return facts
  const { name, namespace } = workloadKey(rollout)
  throw new AppError('NOT_BOUND', notBound, { hint: `Or ask for the right to get the DaemonSet ${name} in namespace ${namespace}.` })
}

/** Whether `before` is younger than {@link FRESH_MS}. */
function isFresh(before: ReleaseFacts, now: ReleaseFacts): boolean {
  return now.nowMs - before.nowMs <= FRESH_MS && now.nowMs >= before.nowMs
}

function hasSameObjects(before: ReleaseFacts, now: ReleaseFacts): boolean {
  const { rollout, release, daemonSet, fleet, revisions, notBound } = now
  if (rollout !== before.rollout || release !== before.release || daemonSet !== before.daemonSet || fleet !== before.fleet) return false
  if (notBound !== before.notBound) return false
  return revisions.length === before.revisions.length && revisions.every((revision, at) => revision === before.revisions[at])
}

function nodeObjects({ nodes }: WatchedCluster, facts: ReleaseFacts, name: string): NodeObjects | undefined {
  const pod = podOnNode(facts, name)
  if (pod === undefined) return undefined
  const node = nodeObject(name, nodes.store.get({ namespace: '', name })?.uid)
  return { node, pod: pod === null ? undefined : { kind: 'Pod', namespace: pod.namespace, name: pod.name, uid: pod.uid } }
}

function eventsAbout(parts: WatchedReadsParts, key: ObjectKey, workloadAccess: WorkloadAccess): readonly EventReport[] | undefined {
  const { cluster, events } = parts
  const rollout = cluster.rollouts.store.get(key)
  if (rollout === undefined) return undefined
  const isShown = workloadAccess === 'any' || unboundWorkload(cluster, key) === undefined
  const objects = [`Rollout/${key.name}`, `BatchRelease/${key.name}`, ...(isShown ? [`DaemonSet/${rollout.spec.workloadRef.name}`] : [])]
  const about = objects.flatMap((object) => events.store.byIndex('object', `${key.namespace}/${object}`))
  return [...about].sort(newestFirst).map(({ report }) => report)
}

/**
 * @returns the DaemonSet that the Rollout names but that is not bound to it; undefined also for a DaemonSet that does not exist, which has
 *   nothing that needs hiding
 */
export function unboundWorkload({ rollouts, daemonSets }: WatchedCluster, key: ObjectKey): ObjectKey | undefined {
  const rollout = rollouts.store.get(key)
  if (rollout === undefined) return undefined
  const workload = workloadKey(rollout)
  const daemonSet = daemonSets.store.get(workload)
  return daemonSet === undefined || bindingFault(rollout, daemonSet) === null ? undefined : workload
}

function rolloutOf(daemonSet: DaemonSet | undefined): ObjectKey | undefined {
  const { namespace = '', annotations } = daemonSet?.metadata ?? {}
  const name = annotations?.[daemonSetAnnotations.rollout]
  return name === undefined ? undefined : { namespace, name }
}

/** @returns the Rollout in the DaemonSet's annotation, only if that Rollout also names the DaemonSet */
export function boundRolloutOf({ rollouts, daemonSets }: WatchedCluster, key: ObjectKey): ObjectKey | undefined {
  const named = rolloutOf(daemonSets.store.get(key))
  const rollout = named === undefined ? undefined : rollouts.store.get(named)
  return rollout !== undefined && keyText(workloadKey(rollout)) === keyText(key) ? named : undefined
}

/** Facts of a DaemonSet. Without a Rollout, or if the Rollout is hidden, the facts contain a new, empty Rollout. */
function factsOfDaemonSet(
  { cluster, clock }: Pick<WatchedReadsParts, 'cluster' | 'clock'>,
  key: ObjectKey,
  withRollout: boolean,
): ReleaseFacts | undefined {
  const daemonSet = cluster.daemonSets.store.get(key)
  if (daemonSet === undefined) return undefined
  const rollout = withRollout ? boundRolloutOf(cluster, key) : undefined
  const bound = rollout === undefined ? undefined : watchedFacts(cluster, clock, rollout)
  if (bound !== undefined) return bound
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
