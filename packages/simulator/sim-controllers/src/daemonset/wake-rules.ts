import {
  controllerOf,
  keyOf,
  keyText,
  type ControllerRevision,
  type DaemonSet,
  type OwnerReference,
  parseKey,
  type Pod,
  ownerKeyOf,
} from '@tranche/kube-types'
import { isChanged } from '../placement/is-changed.ts'
import { isPlacingChanged, nodeEligibility } from '../placement/node-eligibility.ts'
import { matchesSelector } from '../placement/requirements.ts'
import type { CacheEvents, DaemonSetCache } from './daemon-set-cache.ts'
import { isReady, isTerminating, minReadyMsOf } from './nodes/pod-facts.ts'
import type { SyncPorts } from './sync-ports.ts'

/** Actions of the rules. Keys are those of DaemonSets. */
export interface WakePorts extends Pick<SyncPorts, 'expectations' | 'ownWrites' | 'wakeAfter'> {
  readonly wake: (key: string) => void
  /** Called with the name of a node that is new, or whose labels or taints have changed. */
  readonly nodeChanged: (nodeName: string) => void
  readonly cache: () => DaemonSetCache
}

/** Which change enqueues which DaemonSet. The deletion of a node enqueues none. @see reference: "What wakes a DaemonSet up" */
export function wakeRules(ports: WakePorts): CacheEvents {
  return {
    daemonSets: daemonSetRules(ports),
    pods: podRules(ports),
    nodes: nodeRules(ports),
    revisions: revisionRules(ports),
  }
}

/**
 * Enqueues the DaemonSets that a node affects: those that lack a pod there, and those whose pod may not stay. Also those that have a pod
 * there and count misscheduled pods.
 */
export function wakeConcerned(nodeName: string, { nodes, daemonSets, owned }: DaemonSetCache, wake: (key: string) => void): void {
  const node = nodes.get(nodeName)
  if (node === undefined) return
  for (const daemonSet of daemonSets.values()) {
    const { shouldRun, shouldContinue } = nodeEligibility(daemonSet.spec.template.spec ?? {}, node)
    const has = owned.hasBoundPodOn(ownerKeyOf(daemonSet), nodeName)
    const misscheduled = (daemonSet.status?.numberMisscheduled ?? 0) > 0
    if ((shouldRun && !has) || (has && (!shouldContinue || misscheduled))) wake(keyText(keyOf(daemonSet)))
  }
}

function daemonSetRules({ wake, expectations, ownWrites }: WakePorts): CacheEvents['daemonSets'] {
  const deleted = (daemonSet: DaemonSet): void => {
    const key = keyText(keyOf(daemonSet))
    expectations.forget(key)
    ownWrites.forget(key, daemonSet.metadata.uid)
    wake(key)
  }
  return {
    added: (daemonSet) => wake(keyText(keyOf(daemonSet))),
    updated(daemonSet, before) {
      if (daemonSet.metadata.uid !== before.metadata.uid) deleted(before)
      wake(keyText(keyOf(daemonSet)))
    },
    deleted,
  }
}

function podRules({ wake, wakeAfter, expectations, cache }: WakePorts): CacheEvents['pods'] {
  function deleted(pod: Pod): void {
    const key = ownerKey(pod, cache())
    if (key === undefined) return
    expectations.deletionObserved(key)
    wake(key)
  }
  return {
    added(pod) {
      if (isTerminating(pod)) return deleted(pod)
      if (controllerOf(pod) === undefined) return wakeMatching(pod, cache(), wake)
      const key = ownerKey(pod, cache())
      if (key === undefined) return
      expectations.creationObserved(key)
      wake(key)
    },
    updated(pod, before) {
      if (pod.metadata.resourceVersion === before.metadata.resourceVersion) return
      // Each update of a terminating pod counts as an observed deletion, so expectations may be met too early.
      if (isTerminating(pod)) return deleted(pod)
      wakeOnUpdate(pod, before, cache(), wake)
      const key = ownerKey(pod, cache())
      if (key === undefined || !isReady(pod) || isReady(before)) return
      const minReadyMs = minReadyMsOf(daemonSetOf(key, cache())!)
      if (minReadyMs > 0) wakeAfter(key, minReadyMs + 1000)
    },
    deleted,
  }
}

function nodeRules({ nodeChanged }: WakePorts): CacheEvents['nodes'] {
  return {
    added: (node) => nodeChanged(node.metadata.name),
    updated(node, before) {
      if (isPlacingChanged(node, before)) nodeChanged(node.metadata.name)
    },
  }
}

function revisionRules({ wake, cache }: WakePorts): CacheEvents['revisions'] {
  const deleted = (revision: ControllerRevision): void => wakeIf(wake, ownerKey(revision, cache()))
  return {
    added(revision) {
      if (revision.metadata.deletionTimestamp !== undefined) return deleted(revision)
      if (controllerOf(revision) === undefined) wakeMatching(revision, cache(), wake)
    },
    updated(revision, before) {
      if (revision.metadata.resourceVersion !== before.metadata.resourceVersion) wakeOnUpdate(revision, before, cache(), wake)
    },
    deleted,
  }
}

/**
 * Enqueues the previous owner, if it has changed, and the current owner; for an orphan whose labels or owner changed, all DaemonSets that
 * select it.
 */
function wakeOnUpdate<T extends Pod | ControllerRevision>(object: T, before: T, cache: DaemonSetCache, wake: (key: string) => void): void {
  const ownerChanged = isChanged(controllerOf(object), controllerOf(before))
  if (ownerChanged) wakeIf(wake, ownerKey(before, cache))
  if (controllerOf(object) !== undefined) return wakeIf(wake, ownerKey(object, cache))
  if (ownerChanged || isChanged(object.metadata.labels, before.metadata.labels)) wakeMatching(object, cache, wake)
}

function wakeMatching(orphan: Pod | ControllerRevision, { daemonSets }: DaemonSetCache, wake: (key: string) => void): void {
  for (const daemonSet of daemonSets.values())
    if (daemonSet.metadata.namespace === orphan.metadata.namespace && matchesSelector(daemonSet.spec.selector, orphan.metadata.labels))
      wake(keyText(keyOf(daemonSet)))
}

function wakeIf(wake: (key: string) => void, key: string | undefined): void {
  if (key !== undefined) wake(key)
}

/** @returns key of the controlling DaemonSet, if it is cached under the same UID */
function ownerKey(object: Pod | ControllerRevision, cache: DaemonSetCache): string | undefined {
  const owner: OwnerReference | undefined = controllerOf(object)
  if (owner?.kind !== 'DaemonSet') return undefined
  const daemonSet = cache.daemonSets.get(owner.name, object.metadata.namespace)
  return daemonSet?.metadata.uid === owner.uid ? keyText(keyOf(daemonSet)) : undefined
}

function daemonSetOf(key: string, cache: DaemonSetCache): DaemonSet | undefined {
  const { namespace, name } = parseKey(key)
  return cache.daemonSets.get(name, namespace)
}
