import { type BatchRelease, isGroupWait, type ReleasePolicy, type Rollout } from '@tranche/api-schema'
import {
  type GroupReference,
  isSameButForCounts,
  releasesOfGroup,
  releasesOfWorkload,
  rolloutsOfWorkload,
  type WatchedCluster,
} from '@tranche/cluster'
import { isPinnedObject } from '@tranche/config'
import { receiverKey } from '@tranche/controllers'
import { groupNameOf } from '@tranche/planner'
import { controllerOf, type DaemonSet, isSameJson, keyOf, keyText, type ObjectKey } from '@tranche/kube-types'
import type { ConfigWatchParts } from './ports/pin/config-watch.ts'
import { policyNameOf, rolloutsOf } from './ports/policy-port.ts'
import { actingOn, bindingOf, workloadHolder, isHolderChanged, releasesActingOn } from './ports/workload-holder.ts'

/** Enqueues keys for the reconcilers. */
export interface Woken {
  readonly rollout: (key: string) => void
  readonly release: (key: string) => void
  /** Keys of `receiverKey`. */
  readonly notify: (key: string) => void
  /** Throttled `rollout`, for changes that come with every pod. */
  readonly rolloutSoon: (key: string) => void
  /** Throttled `release`, for changes that come with every pod: many changes become a few passes. */
  readonly releaseSoon: (key: string) => void
  /** Analyses of a BatchRelease. */
  readonly analysis: (key: string) => void
  /** Status of a ReleasePolicy. */
  readonly policy: (key: string) => void
}

/** Wakes Rollouts and BatchReleases on every change that may affect the decision of a pass. */
export function wakeByWatches(cluster: WatchedCluster, woken: Woken): void {
  const daemonSets = cluster.daemonSets.store.list()
  const keysByUid = new Map<string, ObjectKey>(daemonSets.map((daemonSet) => [daemonSet.metadata.uid, keyOf(daemonSet)]))
  wakeByRollouts(cluster, woken)
  wakeByReleases(cluster, woken)
  wakeByDaemonSets(cluster, woken, keysByUid)
  wakeByRevisions(cluster, woken, keysByUid)
  wakeByPods(cluster, woken, keysByUid)
  wakeByPolicies(cluster, woken)
  cluster.nodes.subscribe({ onChange: () => wakeByNodes(cluster, woken) })
  cluster.kruise.subscribe(() => wakeAll(cluster, woken))
}

/** Wakes all Rollouts, BatchReleases and receivers: at the start of leadership, and when OpenKruise's controller starts or ends. */
export function wakeAll({ rollouts, batchReleases }: WatchedCluster, woken: Woken): void {
  for (const rollout of rollouts.store.list()) {
    woken.rollout(keyText(keyOf(rollout)))
    wakeReceivers(rollout, woken)
  }
  for (const release of batchReleases.store.list()) woken.release(keyText(keyOf(release)))
}

/** Wakes what a change of nodes may affect. A Rollout or BatchRelease that only names the DaemonSet of another one costs nothing. */
function wakeByNodes(cluster: WatchedCluster, woken: Woken): void {
  for (const daemonSet of cluster.daemonSets.store.list()) {
    wakeActing(cluster, keyOf(daemonSet), woken.rollout)
    wakeActingReleases(cluster, keyOf(daemonSet), woken.release)
  }
}

/** Wakes all analyses and policies at the start of leadership; node changes do not affect them. */
export function wakeAtFirst({ batchReleases, policies }: WatchedCluster, woken: Woken): void {
  for (const release of batchReleases.store.list()) woken.analysis(keyText(keyOf(release)))
  for (const policy of policies.store.list()) woken.policy(keyText(keyOf(policy)))
}

function wakeByRollouts(cluster: WatchedCluster, woken: Woken): void {
  cluster.rollouts.subscribe({
    onChange(key, previous, current) {
      woken.rollout(keyText(key))
      woken.release(keyText(key))
      wakePolicies(key, [previous, current], woken)
      if (current !== undefined) wakeReceivers(current, woken)
      if (isSameSpec(previous, current)) return
      for (const workload of workloadsOf(key, previous, current)) {
        const boundTo = bindingOf(cluster.daemonSets.store.get(workload))
        // Another Rollout may now be bound to the DaemonSet.
        if (isHolderChanged(cluster, workload, [previous, current], boundTo)) wakeNaming(cluster, workload, woken.rollout)
      }
    },
  })
}

function wakeByReleases(cluster: WatchedCluster, woken: Woken): void {
  cluster.batchReleases.subscribe({
    onChange(key, previous, current) {
      woken.release(keyText(key))
      woken.analysis(keyText(key))
      woken.rollout(keyText(key))
      wakeGroup(cluster, [previous, current], woken)
      // Another BatchRelease may wait until this one detaches from the DaemonSet.
      if (current !== undefined) return
      for (const workload of workloadsOf(key, previous, current)) wakeReleases(cluster, workload, woken.release)
    },
  })
}

/**
 * Wakes the releases that wait for a group when another release may have left it, or comes before or after them. Releases of other groups sleep
 * on: a user who changes a release of one group again and again costs the others nothing.
 */
function wakeGroup(cluster: WatchedCluster, [previous, current]: readonly (BatchRelease | undefined)[], woken: Woken): void {
  if (groupFacts(previous) === groupFacts(current)) return
  const changed = [previous, current].filter((release) => release !== undefined)
  const others = new Set(changed.flatMap(groupsOf).flatMap((group) => releasesOfGroup(cluster, group)))
  for (const other of others) {
    if (!isGroupWait(other.status?.waiting?.reason) || other.metadata.uid === current?.metadata.uid) continue
    woken.release(keyText(keyOf(other)))
  }
}

/** Groups across namespaces have one Lease, which the status names before a release waits for it. */
function groupsOf(release: BatchRelease): readonly GroupReference[] {
  const group = groupNameOf(release)
  const lease = release.status?.groupLease
  const { namespace = '' } = release.metadata
  return [...(group === undefined ? [] : [{ namespace, group }]), ...(lease === undefined ? [] : [{ lease }])]
}

/** What other releases of its group depend on; empty without a group. */
function groupFacts(release: BatchRelease | undefined): string {
  if (release === undefined || (groupNameOf(release) === undefined && release.status?.groupLease === undefined)) return ''
  const { flight, waiting, groupLease } = release.status ?? {}
  const isFlying = (flight?.permits.length ?? 0) > 0
  return JSON.stringify([groupNameOf(release), groupLease, flight?.state, isFlying, waiting?.reason, release.metadata.deletionTimestamp])
}

function wakeByDaemonSets(cluster: WatchedCluster, woken: Woken, keysByUid: Map<string, ObjectKey>): void {
  cluster.daemonSets.subscribe({
    onChange(key, previous, current) {
      if (previous !== undefined) keysByUid.delete(previous.metadata.uid)
      if (current !== undefined) keysByUid.set(current.metadata.uid, key)
      if (isSameButForCounts(previous, current)) return wakeActingReleases(cluster, key, woken.releaseSoon)
      if (isSameHolder(cluster, key, [previous, current])) wakeActing(cluster, key, woken.rollout)
      else wakeNaming(cluster, key, woken.rollout)
      wakeReleases(cluster, key, woken.release)
      // It may still be bound to a Rollout that now names another workload.
      const boundTo = bindingOf(current)
      if (boundTo !== undefined) woken.rollout(keyText({ namespace: key.namespace, name: boundTo }))
    },
  })
}

function wakeByRevisions(cluster: WatchedCluster, woken: Woken, keysByUid: ReadonlyMap<string, ObjectKey>): void {
  cluster.revisions.subscribe({
    onChange({ namespace }, previous, current) {
      const owner = keysByUid.get(ownerUid(current ?? previous))
      if (owner === undefined || owner.namespace !== namespace) return
      wakeActing(cluster, owner, woken.rollout)
      wakeActingReleases(cluster, owner, woken.release)
    },
  })
}

function wakeByPods(cluster: WatchedCluster, woken: Woken, keysByUid: ReadonlyMap<string, ObjectKey>): void {
  cluster.pods.subscribe({
    onChange({ namespace }, previous, current) {
      const owner = keysByUid.get((current ?? previous)?.ownerUid ?? '')
      if (owner === undefined || owner.namespace !== namespace) return
      // New pod failures, which may stop a release, are not throttled.
      const isFirstTrouble = current?.trouble !== undefined && previous?.trouble?.reason !== current.trouble.reason
      wakeActingReleases(cluster, owner, isFirstTrouble ? woken.release : woken.releaseSoon)
      // Their counts of updated and available nodes change even while the release waits.
      wakeActing(cluster, owner, woken.rolloutSoon)
    },
  })
}

function wakeByPolicies(cluster: WatchedCluster, woken: Woken): void {
  cluster.policies.subscribe({
    onChange(key, previous, current) {
      woken.policy(keyText(key))
      // Of the policy's status, only the condition Usable affects Rollouts: their status repeats it.
      if (isSamePolicy(previous, current)) return
      for (const rollout of rolloutsOf(cluster, key)) {
        woken.rollout(keyText(keyOf(rollout)))
        wakeReceivers(rollout, woken)
      }
    },
  })
}

function isSamePolicy(previous: ReleasePolicy | undefined, current: ReleasePolicy | undefined): boolean {
  if (previous?.metadata.generation !== current?.metadata.generation || previous?.metadata.uid !== current?.metadata.uid) return false
  const [was, is] = [previous, current].map((policy) => policy?.status?.conditions?.find(({ type }) => type === 'Usable'))
  return was?.message === is?.message && was?.observedGeneration === is?.observedGeneration
}

/** Wakes policies whose status may change: it lists the Rollouts that name it, and its failing receivers. */
function wakePolicies({ namespace }: ObjectKey, [previous, current]: readonly (Rollout | undefined)[], { policy }: Woken): void {
  const [was, is] = [previous, current].map((rollout) => (rollout === undefined ? undefined : policyNameOf(rollout)))
  if (was === is && isSameJson(previous?.status?.notifications, current?.status?.notifications)) return
  for (const name of new Set([was, is])) if (name !== undefined) policy(keyText({ namespace, name }))
}

/** Wakes receivers with pending notifications. */
function wakeReceivers(rollout: Rollout, { notify }: Woken): void {
  const receivers = new Set(rollout.status?.notifications?.map(({ receiver }) => receiver))
  for (const receiver of receivers) notify(keyText(receiverKey(keyOf(rollout), receiver)))
}

/** Wakes every Rollout that names the workload. */
function wakeNaming(cluster: WatchedCluster, workload: ObjectKey, wake: (key: string) => void): void {
  for (const rollout of rolloutsOfWorkload(cluster, workload)) wake(keyText(keyOf(rollout)))
}

/** Wakes the Rollouts that act on the DaemonSet. */
function wakeActing(cluster: WatchedCluster, daemonSet: ObjectKey, wake: (key: string) => void): void {
  for (const name of actingOn(cluster, daemonSet)) wakeIfThere(cluster, { namespace: daemonSet.namespace, name }, wake)
}

function wakeIfThere({ rollouts }: WatchedCluster, key: ObjectKey, wake: (key: string) => void): void {
  if (rollouts.store.get(key) !== undefined) wake(keyText(key))
}

/** Wakes the Rollouts of DaemonSets that read an object, or own it as a copy. */
export function wakeReaders(
  cluster: WatchedCluster,
  wake: (key: string) => void,
  [namespace, object, copyOf]: Parameters<ConfigWatchParts['onChange']>,
): void {
  for (const daemonSet of cluster.daemonSets.store.list()) {
    if (daemonSet.metadata.namespace !== namespace) continue
    const acting = actingOn(cluster, keyOf(daemonSet))
    if (acting.size === 0) continue
    const isReader = isPinnedObject(daemonSet.spec.template, object)
    if (isReader || daemonSet.metadata.uid === copyOf) wakeActing(cluster, keyOf(daemonSet), wake)
  }
}

/** Wakes the policies that pin config, and the Rollouts that name them. */
export function wakePinning(cluster: WatchedCluster, { policy, rollout }: Pick<Woken, 'policy' | 'rollout'>): void {
  for (const { metadata, spec } of cluster.policies.store.list()) {
    if (spec.config !== 'Pin') continue
    const key: ObjectKey = { namespace: metadata.namespace ?? '', name: metadata.name }
    policy(keyText(key))
    for (const user of rolloutsOf(cluster, key)) rollout(keyText(keyOf(user)))
  }
}

function wakeReleases(cluster: WatchedCluster, workload: ObjectKey, wake: (key: string) => void): void {
  for (const release of releasesOfWorkload(cluster, workload)) wake(keyText(keyOf(release)))
}

function wakeActingReleases(cluster: WatchedCluster, daemonSet: ObjectKey, wake: (key: string) => void): void {
  for (const release of releasesActingOn(cluster, daemonSet)) wake(keyText(keyOf(release)))
}

/** Whether a change of a DaemonSet leaves it with the same holder. Where it comes or goes, every Rollout that names it says so. */
function isSameHolder(cluster: WatchedCluster, key: ObjectKey, [previous, current]: readonly (DaemonSet | undefined)[]): boolean {
  if (previous?.metadata.uid !== current?.metadata.uid) return false
  return workloadHolder(cluster, key, bindingOf(previous)) === workloadHolder(cluster, key, bindingOf(current))
}

function isSameSpec(previous: Rollout | undefined, current: Rollout | undefined): boolean {
  if (previous === undefined || current === undefined) return false
  const isGoing = (rollout: Rollout): boolean => rollout.metadata.deletionTimestamp !== undefined
  return previous.metadata.generation === current.metadata.generation && isGoing(previous) === isGoing(current)
}

/** DaemonSets that the object names or named before. */
function workloadsOf(
  { namespace }: ObjectKey,
  previous: Rollout | BatchRelease | undefined,
  current: Rollout | BatchRelease | undefined,
): readonly ObjectKey[] {
  const names = [previous, current].flatMap((object) => object?.spec.workloadRef?.name ?? [])
  return [...new Set(names)].map((name) => ({ namespace, name }))
}

function ownerUid(object: Pick<DaemonSet, 'metadata'> | undefined): string {
  return object === undefined ? '' : (controllerOf(object)?.uid ?? '')
}
