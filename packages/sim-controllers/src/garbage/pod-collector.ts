import type { Timer } from '@tranche/clock'
import type { Node, Pod } from '@tranche/kube-types'
import { isStatus, resources } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../daemonset/daemon-set-controller.ts'
import { createInformer } from '../machinery/informer.ts'

const PERIOD_MS = 20_000
const QUARANTINE_MS = 40_000

/**
 * Removes pods whose node no longer exists. It looks every 20 s, and a node must have been missing for 40 s; both are
 * counted only while there is such a pod, so that nothing ticks in a cluster at rest.
 */
export function startPodCollector({ client, clock, onError }: ControllerOptions): RunningController {
  const podsByNode = new Map<string, Map<string, Pod>>()
  const quarantined = new Map<string, Timer>()
  const nodes = createInformer<Node>(client, resources.nodes, {
    added: (node) => release(node.metadata.name),
    deleted: (node) => suspect(node.metadata.name),
  })
  const pods = createInformer<Pod>(client, resources.pods, {
    added: put,
    updated: put,
    deleted(pod) {
      podsByNode.get(pod.spec?.nodeName ?? '')?.delete(pod.metadata.uid)
    },
  })
  void Promise.all([nodes.synced, pods.synced]).then(() => {
    for (const name of podsByNode.keys()) suspect(name)
    synced = true
  })
  let synced = false

  function put(pod: Pod): void {
    const name = pod.spec?.nodeName
    if (!name) return
    let there = podsByNode.get(name)
    if (there === undefined) podsByNode.set(name, (there = new Map()))
    there.set(pod.metadata.uid, pod)
    if (synced) suspect(name)
  }

  function suspect(name: string): void {
    if (nodes.get(name) !== undefined || quarantined.has(name) || (podsByNode.get(name)?.size ?? 0) === 0) return
    const untilTickMs = PERIOD_MS - (clock.monotonicMs() % PERIOD_MS)
    quarantined.set(
      name,
      clock.setTimer(untilTickMs + QUARANTINE_MS, () => void collect(name)),
    )
  }

  function release(name: string): void {
    quarantined.get(name)?.cancel()
    quarantined.delete(name)
  }

  async function collect(name: string): Promise<void> {
    quarantined.delete(name)
    try {
      await client.get(resources.nodes, name)
    } catch (error) {
      if (!isStatus(error, 404)) return retry(error, name)
      for (const pod of [...(podsByNode.get(name)?.values() ?? [])]) await remove(pod).catch((failure: unknown) => retry(failure, name))
    }
  }

  async function remove(pod: Pod): Promise<void> {
    const options = { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } }
    await client.delete(resources.pods, pod.metadata.name, pod.metadata.namespace, options).catch((error: unknown) => {
      if (!isStatus(error, 404)) throw error
    })
  }

  function retry(error: unknown, name: string): void {
    onError(error, name)
    quarantined.set(
      name,
      clock.setTimer(PERIOD_MS, () => void collect(name)),
    )
  }

  return {
    stop() {
      for (const timer of quarantined.values()) timer.cancel()
      nodes.stop()
      pods.stop()
    },
  }
}
