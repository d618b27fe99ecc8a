import type { BatchRelease, ReleasePolicy, Rollout } from '@tranche/api-schema'
import { isSameButForCounts, type WatchedCluster } from '@tranche/cluster'
import { receiverKey } from '@tranche/controllers'
import { controllerOf, type DaemonSet, daemonSetAnnotations, isSameJson, keyOf, keyText, type ObjectKey } from '@tranche/kube-types'
import { policyNameOf, rolloutsOf } from './policy-port.ts'

/** Where keys to look at go. */
export interface Woken {
  readonly rollout: (key: string) => void
  readonly release: (key: string) => void
  /** Keys of `receiverKey`. */
  readonly notify: (key: string) => void
  /** As `rollout`, for what changes with every pod. */
  readonly rolloutSoon: (key: string) => void
  /** As `release`, for what changes with every pod: a flood of it becomes a few passes. */
  readonly releaseSoon: (key: string) => void
  /** Of a BatchRelease: its analyses. */
  readonly analysis: (key: string) => void
  /** Of a ReleasePolicy: what it says of itself. */
  readonly policy: (key: string) => void
}

/** Every change that a pass could decide otherwise for wakes the Rollouts and BatchReleases concerned. */
export function wakeByWatches(cluster: WatchedCluster, woken: Woken): void {
  const { rollouts, batchReleases, daemonSets, revisions, pods, nodes, policies, kruise } = cluster
  const keysByUid = new Map<string, ObjectKey>(daemonSets.store.list().map((daemonSet) => [daemonSet.metadata.uid, keyOf(daemonSet)]))

  rollouts.subscribe({
    onChange(key, previous, current) {
      woken.rollout(keyText(key))
      woken.release(keyText(key))
      wakePolicies(key, [previous, current], woken)
      if (current !== undefined) wakeReceivers(current, woken)
      // Which of two Rollouts holds a DaemonSet may have changed.
      if (isSameSpec(previous, current)) return
      for (const workload of workloadsOf(key, previous, current)) wakeRollouts(cluster, workload, woken)
    },
  })
  batchReleases.subscribe({
    onChange(key, previous, current) {
      woken.release(keyText(key))
      woken.analysis(keyText(key))
      woken.rollout(keyText(key))
      // Another one may wait for this one to let go of the DaemonSet.
      if (current !== undefined) return
      for (const workload of workloadsOf(key, previous, current)) wakeReleases(cluster, workload, woken.release)
    },
  })
  daemonSets.subscribe({
    onChange(key, previous, current) {
      if (previous !== undefined) keysByUid.delete(previous.metadata.uid)
      if (current !== undefined) keysByUid.set(current.metadata.uid, key)
      if (isSameButForCounts(previous, current)) return wakeReleases(cluster, key, woken.releaseSoon)
      wakeRollouts(cluster, key, woken)
      wakeReleases(cluster, key, woken.release)
      // It may be bound to a Rollout that names another workload by now.
      const boundTo = current?.metadata.annotations?.[daemonSetAnnotations.rollout]
      if (boundTo !== undefined) woken.rollout(keyText({ namespace: key.namespace, name: boundTo }))
    },
  })
  revisions.subscribe({
    onChange({ namespace }, previous, current) {
      const owner = keysByUid.get(ownerUid(current ?? previous))
      if (owner === undefined || owner.namespace !== namespace) return
      wakeRollouts(cluster, owner, woken)
      wakeReleases(cluster, owner, woken.release)
    },
  })
  pods.subscribe({
    onChange({ namespace }, previous, current) {
      const owner = keysByUid.get((current ?? previous)?.ownerUid ?? '')
      if (owner === undefined || owner.namespace !== namespace) return
      // What may stop a release does not wait for what is merely counted.
      const isFirstTrouble = current?.trouble !== undefined && previous?.trouble?.reason !== current.trouble.reason
      wakeReleases(cluster, owner, isFirstTrouble ? woken.release : woken.releaseSoon)
      wakeCounting(cluster, owner, woken)
    },
  })
  policies.subscribe({
    onChange(key, previous, current) {
      woken.policy(keyText(key))
      // Of what it says of itself, only what cannot be used is a reason to look at Rollouts again: they say so too.
      if (isSamePolicy(previous, current)) return
      for (const rollout of rolloutsOf(cluster, key)) {
        woken.rollout(keyText(keyOf(rollout)))
        wakeReceivers(rollout, woken)
      }
    },
  })
  nodes.subscribe({ onChange: () => wakeAll(cluster, woken) })
  kruise.subscribe(() => wakeAll(cluster, woken))
}

/** Looks at everything: when leadership begins, and when nodes change. */
export function wakeAll({ rollouts, batchReleases }: WatchedCluster, woken: Woken): void {
  for (const rollout of rollouts.store.list()) {
    woken.rollout(keyText(keyOf(rollout)))
    wakeReceivers(rollout, woken)
  }
  for (const release of batchReleases.store.list()) woken.release(keyText(keyOf(release)))
}

/** The same for what no node concerns, when leadership begins: analyses and policies. */
export function wakeAtFirst({ batchReleases, policies }: WatchedCluster, woken: Woken): void {
  for (const release of batchReleases.store.list()) woken.analysis(keyText(keyOf(release)))
  for (const policy of policies.store.list()) woken.policy(keyText(keyOf(policy)))
}

function isSamePolicy(previous: ReleasePolicy | undefined, current: ReleasePolicy | undefined): boolean {
  if (previous?.metadata.generation !== current?.metadata.generation || previous?.metadata.uid !== current?.metadata.uid) return false
  const [was, is] = [previous, current].map((policy) => policy?.status?.conditions?.find(({ type }) => type === 'Usable'))
  return was?.message === is?.message && was?.observedGeneration === is?.observedGeneration
}

/** A policy says who names it, and which of its receivers take nothing. */
function wakePolicies({ namespace }: ObjectKey, [previous, current]: readonly (Rollout | undefined)[], { policy }: Woken): void {
  const [was, is] = [previous, current].map((rollout) => (rollout === undefined ? undefined : policyNameOf(rollout)))
  if (was === is && isSameJson(previous?.status?.notifications, current?.status?.notifications)) return
  for (const name of new Set([was, is])) if (name !== undefined) policy(keyText({ namespace, name }))
}

/** Those who are still to be told something. */
function wakeReceivers(rollout: Rollout, { notify }: Woken): void {
  const receivers = new Set(rollout.status?.notifications?.map(({ receiver }) => receiver))
  for (const receiver of receivers) notify(keyText(receiverKey(keyOf(rollout), receiver)))
}

function wakeRollouts({ rollouts }: WatchedCluster, workload: ObjectKey, woken: Woken): void {
  for (const rollout of rollouts.store.list()) if (isAbout(rollout, workload)) woken.rollout(keyText(keyOf(rollout)))
}

/** A Rollout says how many nodes are updated, or available, also while its release stands still. */
function wakeCounting({ rollouts }: WatchedCluster, workload: ObjectKey, { rolloutSoon }: Woken): void {
  for (const rollout of rollouts.store.list()) if (isAbout(rollout, workload)) rolloutSoon(keyText(keyOf(rollout)))
}

function wakeReleases({ batchReleases }: WatchedCluster, workload: ObjectKey, wake: (key: string) => void): void {
  for (const release of batchReleases.store.list()) if (isAbout(release, workload)) wake(keyText(keyOf(release)))
}

function isSameSpec(previous: Rollout | undefined, current: Rollout | undefined): boolean {
  if (previous === undefined || current === undefined) return false
  const isGoing = (rollout: Rollout): boolean => rollout.metadata.deletionTimestamp !== undefined
  return previous.metadata.generation === current.metadata.generation && isGoing(previous) === isGoing(current)
}

/** The DaemonSets that the object names, and named before. */
function workloadsOf(
  { namespace }: ObjectKey,
  previous: Rollout | BatchRelease | undefined,
  current: Rollout | BatchRelease | undefined,
): readonly ObjectKey[] {
  const names = [previous, current].flatMap((object) => object?.spec.workloadRef?.name ?? [])
  return [...new Set(names)].map((name) => ({ namespace, name }))
}

function isAbout({ metadata, spec }: Rollout | BatchRelease, workload: ObjectKey): boolean {
  return metadata.namespace === workload.namespace && spec.workloadRef?.name === workload.name
}

function ownerUid(object: Pick<DaemonSet, 'metadata'> | undefined): string {
  return object === undefined ? '' : (controllerOf(object)?.uid ?? '')
}
