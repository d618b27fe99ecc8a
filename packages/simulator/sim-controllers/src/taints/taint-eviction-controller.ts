import type { Timer } from '@tranche/clock'
import { keyOf, keyText, type Node, parseKey, type Pod } from '@tranche/kube-types'
import { resources } from '@tranche/sim-api'
import { disruptPod } from '../disruption/disrupt-pod.ts'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { createEventRecorder } from '../machinery/event-recorder.ts'
import { createInformer } from '../machinery/informer.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'
import { stayMs } from './plan-eviction.ts'

const WORKERS = 8
const BY_TAINT = { reason: 'DeletionByTaintManager', message: 'Taint manager: deleting due to NoExecute taint' }

/** Pod to evict, and when that was first decided. */
interface Notice {
  readonly timer: Timer
  readonly sinceMs: number
}

/** Runs the taint eviction controller: pods leave a node whose NoExecute taints they do not tolerate, or tolerate for a limited time. */
export function startTaintEvictionController({ client, clock, onError }: ControllerOptions): RunningController {
  const events = createEventRecorder(client, clock, 'taint-eviction-controller')
  const limiter = createRateLimiter(() => clock.monotonicMs())
  const queue = createWorkQueue({ clock, limiter, workers: WORKERS, work: evict, onError })
  const notices = new Map<string, Notice>()
  /** Pods on each node, by uid. */
  const podsOn = new Map<string, Map<string, Pod>>()

  const nodes = createInformer<Node>(client, resources.nodes, {
    added: judgeNode,
    updated(node, before) {
      if (node.spec?.taints !== before.spec?.taints) judgeNode(node)
    },
  })
  const pods = createInformer<Pod>(client, resources.pods, {
    added: put,
    updated(pod, before) {
      if (pod.spec !== before.spec || pod.metadata.deletionTimestamp !== before.metadata.deletionTimestamp) put(pod)
    },
    deleted(pod) {
      podsOn.get(pod.spec?.nodeName ?? '')?.delete(pod.metadata.uid)
      withdraw(pod, false)
    },
  })

  function put(pod: Pod): void {
    const nodeName = pod.spec?.nodeName
    if (!nodeName) return
    let there = podsOn.get(nodeName)
    if (there === undefined) podsOn.set(nodeName, (there = new Map()))
    there.set(pod.metadata.uid, pod)
    const node = nodes.get(nodeName)
    if (node !== undefined) judge(pod, node)
  }

  function judgeNode(node: Node): void {
    for (const pod of podsOn.get(node.metadata.name)?.values() ?? []) judge(pod, node)
  }

  function judge(pod: Pod, node: Node): void {
    const ms = stayMs(pod, node)
    if (ms === null || pod.metadata.deletionTimestamp !== undefined) return withdraw(pod, pod.metadata.deletionTimestamp === undefined)
    const key = keyText(keyOf(pod))
    const nowMs = clock.monotonicMs()
    // A longer toleration counts from when the pod was first scheduled for eviction.
    const sinceMs = ms === 0 ? nowMs : (notices.get(key)?.sinceMs ?? nowMs)
    notices.get(key)?.timer.cancel()
    const timer = clock.setTimer(Math.max(0, sinceMs + ms - nowMs), () => {
      notices.delete(key)
      queue.add(key)
    })
    notices.set(key, { timer, sinceMs })
  }

  function withdraw(pod: Pod, recordsEvent: boolean): void {
    const key = keyText(keyOf(pod))
    const notice = notices.get(key)
    if (notice === undefined) return
    notice.timer.cancel()
    notices.delete(key)
    if (recordsEvent) events.record(pod, 'Normal', 'TaintManagerEviction', `Cancelling deletion of Pod ${key}`)
  }

  async function evict(key: string): Promise<void> {
    const { namespace, name } = parseKey(key)
    const pod = pods.get(name, namespace)
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return
    events.record(pod, 'Normal', 'TaintManagerEviction', `Marking for deletion Pod ${key}`)
    await disruptPod({ client, clock }, pod, BY_TAINT)
  }

  return {
    stop() {
      queue.stop()
      nodes.stop()
      pods.stop()
      for (const { timer } of notices.values()) timer.cancel()
    },
  }
}
