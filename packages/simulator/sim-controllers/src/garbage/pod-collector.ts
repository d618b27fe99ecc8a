import { keyOf, keyText, type Node, parseKey, type Pod } from '@tranche/kube-types'
import { isStatus, isTerminal, resources } from '@tranche/sim-api'
import { isReady } from '../daemonset/nodes/pod-facts.ts'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { createInformer } from '../machinery/informer.ts'
import { createPlannedWork } from './planned-work.ts'
import { nodeGone, removePod } from './remove-pod.ts'

const PERIOD_MS = 20_000
const QUARANTINE_MS = 40_000
/** Number of ended pods that are kept for inspection. */
const ENDED_KEPT = 12_500
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service'

/**
 * Removes pods that nothing else would: those of deleted nodes, terminating ones without a node or on a node out of service, and the oldest
 * ended ones above the limit. It checks every 20 s, and a node must have been missing for 40 s. Both timers run only while there is
 * something to remove.
 */
export function startPodCollector({ client, clock, onError }: ControllerOptions): RunningController {
  const podsByNode = new Map<string, Map<string, Pod>>()
  const ended = new Map<string, Pod>()
  /** Tasks named `node <name>`, `pod <key>` and `ended`. */
  const work = createPlannedWork({ clock, retryMs: PERIOD_MS, onError })
  let synced = false
  const nodes = createInformer<Node>(client, resources.nodes, {
    added: (node) => work.cancel(`node ${node.metadata.name}`),
    updated: (node) => isOutOfService(node) && podsOn(node.metadata.name).forEach(suspectPod),
    deleted: (node) => suspectNode(node.metadata.name),
  })
  const pods = createInformer<Pod>(client, resources.pods, {
    added: put,
    updated: put,
    deleted(pod) {
      podsByNode.get(pod.spec?.nodeName ?? '')?.delete(pod.metadata.uid)
      ended.delete(pod.metadata.uid)
      work.cancel(`pod ${keyText(keyOf(pod))}`)
    },
  })
  void Promise.all([nodes.synced, pods.synced]).then(() => {
    synced = true
    for (const name of podsByNode.keys()) suspectNode(name)
  })

  function put(pod: Pod): void {
    const name = pod.spec?.nodeName
    if (isTerminal(pod)) ended.set(pod.metadata.uid, pod)
    if (ended.size > ENDED_KEPT) work.plan('ended', untilTickMs(), collectEnded)
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
    work.plan(`node ${name}`, untilTickMs() + QUARANTINE_MS, () => collectNode(name))
  }

  function suspectPod(pod: Pod): void {
    if (!isAbandoned(pod)) return
    const key = keyText(keyOf(pod))
    work.plan(`pod ${key}`, untilTickMs(), async () => {
      const { namespace, name } = parseKey(key)
      const current = pods.get(name, namespace)
      if (current !== undefined && isAbandoned(current)) await removePod(client, current)
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

  async function collectNode(name: string): Promise<void> {
    try {
      await client.get(resources.nodes, name)
    } catch (error) {
      if (!isStatus(error, 404)) throw error
      for (const pod of podsOn(name)) await removePod(client, pod, nodeGone(clock.nowMs()))
    }
  }

  async function collectEnded(): Promise<void> {
    const oldestFirst = [...ended.values()].sort((a, b) => createdMs(a) - createdMs(b))
    for (const pod of oldestFirst.slice(0, ended.size - ENDED_KEPT)) await removePod(client, pod)
  }

  return {
    stop() {
      work.stop()
      nodes.stop()
      pods.stop()
    },
  }
}

function isOutOfService(node: Node): boolean {
  return !isReady(node) && node.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true
}

function createdMs({ metadata }: Pod): number {
  return Date.parse(metadata.creationTimestamp ?? '')
}
