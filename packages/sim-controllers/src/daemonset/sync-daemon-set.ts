import type { Clock } from '@tranche/clock'
import { keyOf, keyText, parseKey, type DaemonSet, type Pod } from '@tranche/kube-types'
import { isStatus, resources, type ApiObject } from '@tranche/sim-api'
import { hashOfRevision, planCleanup } from '../history/plan-history.ts'
import { isEmptySelector } from '../placement/requirements.ts'
import { changePods, type PodWriter } from './change-pods.ts'
import type { DaemonSetCache } from './daemon-set-cache.ts'
import { planStatus } from './daemon-set-status.ts'
import type { FailedPodBackoff } from './failed-pod-backoff.ts'
import { minReadyMsOf, type NodeCounts, type Target } from './judge-node.ts'
import type { Ledger } from './node-ledger.ts'
import { planRollingUpdate, strategyOf } from './rolling-update.ts'
import { writeHistory, type History } from './write-history.ts'

/** What one pass over a DaemonSet works with. */
export interface SyncPorts extends PodWriter {
  readonly clock: Clock
  readonly cache: DaemonSetCache
  readonly backoff: FailedPodBackoff
  /** Chooses among pods that are equally fit to go. */
  readonly random: () => number
  /** Brings the key back after a while. */
  readonly wakeAfter: (key: string, delayMs: number) => void
}

/**
 * One pass over one DaemonSet: history, placement, update, cleanup, status. Level-triggered: it looks at what is there
 * and not at what has happened.
 *
 * @throws what a write answers; {@link StaleCacheError} while the cache lags behind this controller's own writes
 * @see reference: "One sync, in order"
 */
export async function syncDaemonSet(ports: SyncPorts, key: string): Promise<void> {
  const { cache, expectations } = ports
  ports.ownWrites.requireSeen(key, cache)
  const { namespace, name } = parseKey(key)
  const daemonSet = cache.daemonSets.get(name, namespace)
  if (daemonSet === undefined) return forget(ports, key)
  if (daemonSet.spec.selector !== undefined && isEmptySelector(daemonSet.spec.selector)) {
    const message = 'This daemon set is selecting all pods. A non-empty selector is required.'
    return ports.events.record(daemonSet, 'Warning', 'SelectingAll', message)
  }
  if (daemonSet.metadata.deletionTimestamp !== undefined) return

  const history = await writeHistory(ports.client, daemonSet, cache.revisionsOf(daemonSet.metadata.uid))
  const target: Target = { daemonSet, hash: hashOfRevision(history.current) }
  if (!expectations.satisfied(key)) return writeStatus(ports, target, false)

  const failure = await attempt(() => act(ports, target, history))
  await writeStatus(ports, target, true).catch((error: unknown) => {
    throw failure === undefined ? error : failure.error
  })
  if (failure !== undefined) throw failure.error
}

function forget({ expectations, ownWrites }: SyncPorts, key: string): void {
  expectations.forget(key)
  ownWrites.forget(key)
}

async function attempt(work: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    return { error }
  }
}

async function act(ports: SyncPorts, target: Target, history: History): Promise<void> {
  await manage(ports, target)
  if (ports.expectations.satisfied(keyText(keyOf(target.daemonSet)))) await update(ports, target)
  await cleanUp(ports, target, history)
}

/** Placement: one pod on every node that should have one, and no other. */
async function manage(ports: SyncPorts, target: Target): Promise<void> {
  const ledger = readLedger(ports, target)
  await releasePods(ports, ledger)
  const removed = [...ledger.removals].flatMap((name) => ledger.verdict(name)!.remove)
  const ended = [...ledger.ended].flatMap((name) => endedPods(ports, target, name, ledger.verdict(name)!.ended))
  await changePods(ports, target.daemonSet, target.hash, [...ledger.creates], [...removed, ...ended])
}

/** Failed pods go with back-off, succeeded ones at once. */
function endedPods(ports: SyncPorts, { daemonSet }: Target, nodeName: string, pods: readonly Pod[]): readonly Pod[] {
  const place = `${daemonSet.metadata.uid}/${daemonSet.status?.observedGeneration ?? 0}/${nodeName}`
  return pods.filter((pod) => {
    if (pod.status?.phase === 'Succeeded') {
      const message = `Found succeeded daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${nodeName}, will try to delete it`
      ports.events.record(daemonSet, 'Normal', 'SucceededDaemonPod', message)
      return true
    }
    const delayMs = ports.backoff.tryNow(place)
    if (delayMs > 0) {
      ports.wakeAfter(keyText(keyOf(daemonSet)), delayMs)
      return false
    }
    const message = `Found failed daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${nodeName}, will try to kill it`
    ports.events.record(daemonSet, 'Warning', 'FailedDaemonPod', message)
    return true
  })
}

/** Pods that the selector no longer matches are given up. Taking orphans in would stand beside this. */
async function releasePods({ client }: SyncPorts, ledger: Ledger): Promise<void> {
  for (const pod of [...ledger.releases].flatMap((name) => ledger.verdict(name)!.release)) {
    const ownerReferences = (pod.metadata.ownerReferences ?? []).filter((owner) => owner.controller !== true)
    const body = { metadata: { uid: pod.metadata.uid, ownerReferences } }
    await client.patch(resources.pods, pod.metadata.name, pod.metadata.namespace, body).catch((error: unknown) => {
      if (!isStatus(error, 404) && !isStatus(error, 422)) throw error
    })
  }
}

async function update(ports: SyncPorts, target: Target): Promise<void> {
  const ledger = readLedger(ports, target)
  const strategy = strategyOf(target.daemonSet, ledger.counts.desired)
  if (strategy.kind !== 'rolling') return
  const nodeNames = planRollingUpdate(ledger, strategy.maxUnavailable, ports.random)
  const doomed = nodeNames.flatMap((name) => {
    const { rolling } = ledger.verdict(name)!
    return rolling.kind === 'replaceNow' || rolling.kind === 'candidate' ? [rolling.pod] : []
  })
  await changePods(ports, target.daemonSet, target.hash, [], doomed)
}

async function cleanUp({ client, cache }: SyncPorts, { daemonSet }: Target, { old }: History): Promise<void> {
  const limit = daemonSet.spec.revisionHistoryLimit ?? 10
  if (old.length <= limit) return
  const live = new Set<string>()
  for (const pod of cache.owned.podsOf(daemonSet.metadata.uid)) live.add(pod.metadata.labels?.['controller-revision-hash'] ?? '')
  for (const { metadata } of planCleanup(old, limit, live))
    await client.delete(resources.controllerRevisions, metadata.name, metadata.namespace).catch((error: unknown) => {
      if (!isStatus(error, 404)) throw error
    })
}

async function writeStatus(ports: SyncPorts, target: Target, observed: boolean): Promise<void> {
  const { daemonSet } = target
  const { counts } = readLedger(ports, target)
  const key = keyText(keyOf(daemonSet))
  await putStatus(ports, daemonSet, counts, observed)
  const minReadyMs = minReadyMsOf(daemonSet)
  if (minReadyMs > 0 && counts.ready !== counts.available) ports.wakeAfter(key, minReadyMs)
}

/** One retry with a fresh copy, since others write to the DaemonSet too. One that is gone needs no status. */
async function putStatus({ client, ownWrites }: SyncPorts, daemonSet: DaemonSet, counts: NodeCounts, observed: boolean): Promise<void> {
  const { name, namespace } = daemonSet.metadata
  const put = async (base: DaemonSet): Promise<void> => {
    const status = planStatus(base, counts, observed ? daemonSet.metadata.generation : undefined)
    if (status === undefined) return
    const written = await client.update(resources.daemonSets, { ...base, status } as unknown as ApiObject, 'status')
    ownWrites.statusWritten(keyText(keyOf(daemonSet)), written.metadata.resourceVersion)
  }
  try {
    await put(daemonSet).catch(async (error: unknown) => {
      if (!isStatus(error, 409)) throw error
      await put((await client.get(resources.daemonSets, name, namespace)) as unknown as DaemonSet)
    })
  } catch (error) {
    if (!isStatus(error, 404)) throw error
  }
}

function readLedger({ cache, clock }: SyncPorts, target: Target): Ledger {
  return cache.owned.ledgerOf(target.daemonSet.metadata.uid).read(target, clock.nowMs())
}
