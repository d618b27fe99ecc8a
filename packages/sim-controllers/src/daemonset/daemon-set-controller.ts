import type { Clock } from '@tranche/clock'
import {
  controllerOf,
  keyOf,
  keyText,
  type ControllerRevision,
  type DaemonSet,
  type Node,
  type OwnerReference,
  type Pod,
} from '@tranche/kube-types'
import type { SimClient } from '@tranche/sim-api'
import { canonicalJson } from '../history/canonical-json.ts'
import { createEventRecorder } from '../machinery/event-recorder.ts'
import { createRandom } from '../machinery/random.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'
import { nodeEligibility } from '../placement/node-eligibility.ts'
import { matchesSelector } from '../placement/requirements.ts'
import { createDaemonSetCache, type CacheEvents } from './daemon-set-cache.ts'
import { createExpectations } from './expectations.ts'
import { createFailedPodBackoff } from './failed-pod-backoff.ts'
import { minReadyMsOf } from './judge-node.ts'
import { createOwnWrites } from './own-writes.ts'
import { isReady, isTerminating } from './pod-facts.ts'
import { syncDaemonSet, type SyncPorts } from './sync-daemon-set.ts'

/** A controller that runs until it is stopped. */
export interface RunningController {
  stop(): void
}

/** What a controller of the simulator is given. */
export interface ControllerOptions {
  /** Acts under the controller's own name. */
  readonly client: SimClient
  readonly clock: Clock
  /** Decides what is left to chance. */
  readonly seed: string
  /** Told of every failed pass; the controller tries again by itself. */
  readonly onError: (error: unknown, key: string) => void
}

const WORKERS = 2

/** Runs the DaemonSet controller: from now on DaemonSets get their pods, revisions and status. */
export function startDaemonSetController({ client, clock, seed, onError }: ControllerOptions): RunningController {
  const monotonicMs = (): number => clock.monotonicMs()
  const expectations = createExpectations(monotonicMs)
  const ownWrites = createOwnWrites(monotonicMs)
  let ready = false
  const queue = createWorkQueue({
    clock,
    limiter: createRateLimiter(monotonicMs),
    workers: WORKERS,
    work: (key) => syncDaemonSet(ports, key),
    onError,
  })
  const held = new Set<string>()
  const wake = (key: string): void => (ready ? queue.add(key) : void held.add(key))
  const cache = createDaemonSetCache(client, wakeRules({ wake, wakeAfter: queue.addAfter, expectations, ownWrites, cache: () => cache }))
  const ports: SyncPorts = {
    client,
    clock,
    cache,
    expectations,
    ownWrites,
    backoff: createFailedPodBackoff(monotonicMs),
    events: createEventRecorder(client, clock, 'daemonset-controller'),
    random: createRandom(`${seed}/daemonset-controller`),
    wakeAfter: queue.addAfter,
  }
  void cache.synced.then(() => {
    ready = true
    for (const key of held) queue.add(key)
  })
  return {
    stop() {
      queue.stop()
      cache.stop()
    },
  }
}

interface WakePorts extends Pick<SyncPorts, 'expectations' | 'ownWrites' | 'wakeAfter'> {
  readonly wake: (key: string) => void
  readonly cache: () => SyncPorts['cache']
}

/** Which change wakes which DaemonSet. The deletion of a node wakes none. @see reference: "What wakes a DaemonSet up" */
function wakeRules(ports: WakePorts): CacheEvents {
  return {
    daemonSets: daemonSetRules(ports),
    pods: podRules(ports),
    nodes: nodeRules(ports),
    revisions: revisionRules(ports),
  }
}

function daemonSetRules({ wake, expectations, ownWrites }: WakePorts): CacheEvents['daemonSets'] {
  const deleted = (daemonSet: DaemonSet): void => {
    const key = keyText(keyOf(daemonSet))
    expectations.forget(key)
    ownWrites.forget(key)
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
  function wakeMatching(orphan: Pod): void {
    for (const daemonSet of cache().daemonSets.values())
      if (daemonSet.metadata.namespace === orphan.metadata.namespace && matchesSelector(daemonSet.spec.selector, orphan.metadata.labels))
        wake(keyText(keyOf(daemonSet)))
  }
  return {
    added(pod) {
      if (isTerminating(pod)) return deleted(pod)
      if (controllerOf(pod) === undefined) return wakeMatching(pod)
      const key = ownerKey(pod, cache())
      if (key === undefined) return
      expectations.creationObserved(key)
      wake(key)
    },
    updated(pod, before) {
      if (pod.metadata.resourceVersion === before.metadata.resourceVersion) return
      if (isTerminating(pod)) return deleted(pod)
      const ownerChanged = controllerOf(pod)?.uid !== controllerOf(before)?.uid
      if (ownerChanged) wakeIf(wake, ownerKey(before, cache()))
      if (controllerOf(pod) === undefined) {
        if (ownerChanged || canonicalJson(pod.metadata.labels ?? {}) !== canonicalJson(before.metadata.labels ?? {})) wakeMatching(pod)
        return
      }
      const key = ownerKey(pod, cache())
      if (key === undefined) return
      wake(key)
      const minReadyMs = minReadyMsOf(daemonSetOf(key, cache())!)
      if (minReadyMs > 0 && isReady(pod) && !isReady(before)) wakeAfter(key, minReadyMs + 1000)
    },
    deleted,
  }
}

function nodeRules({ wake, cache }: WakePorts): CacheEvents['nodes'] {
  function wakeConcerned(node: Node): void {
    const { daemonSets, owned } = cache()
    for (const daemonSet of daemonSets.values()) {
      const { shouldRun, shouldContinue } = nodeEligibility(daemonSet.spec.template.spec ?? {}, node)
      const has = owned.hasPodOn(daemonSet.metadata.uid, node.metadata.name)
      const misscheduled = (daemonSet.status?.numberMisscheduled ?? 0) > 0
      if ((shouldRun && !has) || (has && (!shouldContinue || misscheduled))) wake(keyText(keyOf(daemonSet)))
    }
  }
  return {
    added: wakeConcerned,
    updated(node, before) {
      const placed = (one: Node): string => canonicalJson([one.metadata.labels ?? {}, one.spec?.taints ?? []])
      if (placed(node) !== placed(before)) wakeConcerned(node)
    },
  }
}

function revisionRules({ wake, cache }: WakePorts): CacheEvents['revisions'] {
  return {
    added(revision) {
      if (controllerOf(revision) !== undefined) return
      for (const daemonSet of cache().daemonSets.values())
        if (
          daemonSet.metadata.namespace === revision.metadata.namespace &&
          matchesSelector(daemonSet.spec.selector, revision.metadata.labels)
        )
          wake(keyText(keyOf(daemonSet)))
    },
    updated(revision, before) {
      wakeIf(wake, ownerKey(before, cache()))
      wakeIf(wake, ownerKey(revision, cache()))
    },
    deleted: (revision) => wakeIf(wake, ownerKey(revision, cache())),
  }
}

function wakeIf(wake: (key: string) => void, key: string | undefined): void {
  if (key !== undefined) wake(key)
}

/** @returns the key of the controlling DaemonSet, if the cache has it under the same UID */
function ownerKey(object: Pod | ControllerRevision, cache: SyncPorts['cache']): string | undefined {
  const owner: OwnerReference | undefined = controllerOf(object)
  if (owner?.kind !== 'DaemonSet') return undefined
  const daemonSet = cache.daemonSets.get(owner.name, object.metadata.namespace)
  return daemonSet?.metadata.uid === owner.uid ? keyText(keyOf(daemonSet)) : undefined
}

function daemonSetOf(key: string, cache: SyncPorts['cache']): DaemonSet | undefined {
  const slash = key.indexOf('/')
  return cache.daemonSets.get(key.slice(slash + 1), key.slice(0, slash))
}
