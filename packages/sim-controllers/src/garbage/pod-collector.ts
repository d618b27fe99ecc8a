import type { Timer } from '@tranche/clock'
import { type Condition, keyOf, keyText, type Node, parseKey, type Pod } from '@tranche/kube-types'
import { isStatus, isTerminal, resources, timestamp } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../daemonset/daemon-set-controller.ts'
import { ignoreMissing } from '../machinery/ignore-missing.ts'
import { createInformer } from '../machinery/informer.ts'

const PERIOD_MS = 20_000
const QUARANTINE_MS = 40_000
/** So many pods that have ended are left for people to look at. */
const ENDED_KEPT = 12_500
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service'

/**
 * Removes pods that nobody else would: those whose node no longer exists, those that are to go and have no node, or one
 * that is out of service, and the oldest of those that have ended when there are too many. It looks every 20 s, and a node
 * must have been missing for 40 s; both are counted only while there is something to remove, so that nothing ticks in a
 * cluster at rest.
 */
export function startPodCollector({ client, clock, onError }: ControllerOptions): RunningController {
  const podsByNode = new Map<string, Map<string, Pod>>()
  const ended = new Map<string, Pod>()
  /** What is looked at when its timer is due: `node <name>`, `pod <key>` or `ended`. */
  const timers = new Map<string, Timer>()
  let synced = false
  const nodes = createInformer<Node>(client, resources.nodes, {
    added: (node) => release(`node ${node.metadata.name}`),
    updated: (node) => isOutOfService(node) && podsOn(node.metadata.name).forEach(suspectPod),
    deleted: (node) => suspectNode(node.metadata.name),
  })
  const pods = createInformer<Pod>(client, resources.pods, {
    added: put,
    updated: put,
    deleted(pod) {
      podsByNode.get(pod.spec?.nodeName ?? '')?.delete(pod.metadata.uid)
      ended.delete(pod.metadata.uid)
      release(`pod ${keyText(keyOf(pod))}`)
    },
  })
  void Promise.all([nodes.synced, pods.synced]).then(() => {
    synced = true
    for (const name of podsByNode.keys()) suspectNode(name)
  })

  function put(pod: Pod): void {
    const name = pod.spec?.nodeName
    if (isTerminal(pod)) ended.set(pod.metadata.uid, pod)
    if (ended.size > ENDED_KEPT) plan('ended', untilTickMs(), collectEnded)
    if (pod.metadata.deletionTimestamp !== undefined) suspectPod(pod)
    if (!name) return
    let there = podsByNode.get(name)
    if (there === undefined) podsByNode.set(name, (there = new Map()))
    there.set(pod.metadata.uid, pod)
    if (synced) suspectNode(name)
  }

  function podsOn(nodeName: string): readonly Pod[] {
    return [...(podsByNode.get(nodeName)?.values() ?? [])]
  }

  function suspectNode(name: string): void {
    if (nodes.get(name) !== undefined || podsOn(name).length === 0) return
    plan(`node ${name}`, untilTickMs() + QUARANTINE_MS, () => collectNode(name))
  }

  function suspectPod(pod: Pod): void {
    if (!isAbandoned(pod)) return
    const key = keyText(keyOf(pod))
    plan(`pod ${key}`, untilTickMs(), async () => {
      const { namespace, name } = parseKey(key)
      const current = pods.get(name, namespace)
      if (current !== undefined && isAbandoned(current)) await remove(current)
    })
  }

  function isAbandoned({ metadata, spec }: Pod): boolean {
    if (metadata.deletionTimestamp === undefined) return false
    if (!spec?.nodeName) return true
    const node = nodes.get(spec.nodeName)
    return node !== undefined && isOutOfService(node)
  }

  function untilTickMs(): number {
    return PERIOD_MS - (clock.monotonicMs() % PERIOD_MS)
  }

  function plan(what: string, afterMs: number, act: () => Promise<void>): void {
    if (timers.has(what)) return
    timers.set(
      what,
      clock.setTimer(afterMs, () => {
        timers.delete(what)
        void act().catch((error: unknown) => {
          onError(error, what)
          plan(what, PERIOD_MS, act)
        })
      }),
    )
  }

  function release(what: string): void {
    timers.get(what)?.cancel()
    timers.delete(what)
  }

  async function collectNode(name: string): Promise<void> {
    try {
      await client.get(resources.nodes, name)
    } catch (error) {
      if (!isStatus(error, 404)) throw error
      for (const pod of podsOn(name)) await remove(pod, nodeGone(clock.nowMs()))
    }
  }

  async function collectEnded(): Promise<void> {
    const oldestFirst = [...ended.values()].sort((a, b) => createdMs(a) - createdMs(b))
    for (const pod of oldestFirst.slice(0, ended.size - ENDED_KEPT)) await remove(pod)
  }

  /** A pod that is not said to have ended is said so first, so that whoever made it learns how. */
  async function remove(pod: Pod, condition?: Condition): Promise<void> {
    const { name, namespace, uid } = pod.metadata
    if (!isTerminal(pod)) {
      const others = (pod.status?.conditions ?? []).filter(({ type }) => type !== condition?.type)
      const status = { phase: 'Failed', ...(condition !== undefined && { conditions: [...others, condition] }) }
      await ignoreMissing(client.patch(resources.pods, name, namespace, { metadata: { uid }, status }, 'status'))
    }
    await ignoreMissing(client.delete(resources.pods, name, namespace, { gracePeriodSeconds: 0, preconditions: { uid } }))
  }

  return {
    stop() {
      for (const timer of timers.values()) timer.cancel()
      nodes.stop()
      pods.stop()
    },
  }
}

function nodeGone(nowMs: number): Condition {
  return {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
    lastTransitionTime: timestamp(nowMs),
  }
}

function isOutOfService({ spec, status }: Node): boolean {
  const isReady = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true
  return !isReady && spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true
}

function createdMs({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '')
}
