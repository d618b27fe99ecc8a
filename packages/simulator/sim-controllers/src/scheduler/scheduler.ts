import { isSameJson, keyOf, keyText, type Node, parseKey, type Pod } from '@tranche/kube-types'
import { isTerminal, resources } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { type DisruptionBudget, selectsPod } from '../disruption/disruption-budget.ts'
import { createEventRecorder } from '../machinery/event-recorder.ts'
import { ignoreMissing } from '../machinery/ignore-missing.ts'
import { createInformer } from '../machinery/informer.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'
import { createCapacityLedger } from './capacity-ledger.ts'
import { createNominations } from './nominations.ts'
import { type ClusterCapacities, planBinding } from './plan-binding.ts'
import { specOf } from './pod-demand.ts'
import { createSchedulerWrites } from './scheduler-writes.ts'
import { createWaitingPods } from './waiting-pods.ts'

const WORKERS = 8
const NAME = 'default-scheduler'

/**
 * Runs the scheduler. Pods are bound to the node that their affinity names, or to the emptiest feasible one, as soon as there is room; pods
 * of higher priority preempt others.
 */
export function startScheduler({ client, clock, onError }: ControllerOptions): RunningController {
  const events = createEventRecorder(client, clock, NAME)
  const limiter = createRateLimiter(() => clock.monotonicMs())
  const writes = createSchedulerWrites({ client, clock, events, schedulerName: NAME })
  const queue = createWorkQueue({ clock, limiter, workers: WORKERS, work: schedule, onError })
  const ledger = createCapacityLedger()
  const waiting = createWaitingPods()
  const nominations = createNominations()
  const retry = (keys: readonly string[]): void => keys.forEach((key) => queue.add(key))

  const nodes = createInformer<Node>(client, resources.nodes, {
    added: putNode,
    updated(node, before) {
      if (isOtherPlace(node, before)) putNode(node)
    },
    deleted(node) {
      ledger.removeNode(node.metadata.name)
      retry(waiting.for(node.metadata.name))
    },
  })
  const budgets = createInformer<DisruptionBudget>(client, resources.podDisruptionBudgets, {})
  const pods = createInformer<Pod>(client, resources.pods, {
    added: putPod,
    updated: putPod,
    deleted(pod) {
      waiting.delete(pod)
      nominations.delete(pod)
      ledger.removePod(pod)
      retryAround(pod)
    },
  })

  function putNode(node: Node): void {
    ledger.putNode(node)
    retry(waiting.for(node.metadata.name))
  }

  function putPod(pod: Pod, before?: Pod): void {
    if (pod.spec?.nodeName) {
      waiting.delete(pod)
      nominations.delete(pod)
      ledger.putPod(pod)
      if (before === undefined || isTerminal(pod) !== isTerminal(before) || pod.metadata.labels !== before.metadata.labels) retryAround(pod)
    } else if (before === undefined || pod.spec !== before.spec) queue.add(keyText(keyOf(pod)))
  }

  function retryAround(pod: Pod): void {
    if (pod.spec?.nodeName) retry(waiting.for(pod.spec.nodeName))
    retry(waiting.forPods())
  }

  const cluster: ClusterCapacities = {
    get size() {
      return ledger.size
    },
    get hasAntiAffinity() {
      return ledger.hasAntiAffinity
    },
    get: (nodeName) => ledger.get(nodeName),
    values: () => ledger.values(),
    nominated: nominations.on,
    disruptionsAllowed(pod) {
      const chosen = [...budgets.values()].filter((budget) => selectsPod(budget, pod))
      return chosen.length === 0 ? undefined : Math.min(...chosen.map(({ status }) => status?.disruptionsAllowed ?? 0))
    },
  }

  async function schedule(key: string): Promise<void> {
    await Promise.all([nodes.synced, pods.synced, budgets.synced])
    const { namespace, name } = parseKey(key)
    const pod = pods.get(name, namespace)
    if (pod === undefined || pod.spec?.nodeName || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod)) return
    if ((specOf(pod).schedulerName ?? NAME) !== NAME) return
    waiting.delete(pod)
    const plan = planBinding(pod, cluster)
    if (plan.kind === 'bind') return bind(pod, plan.nodeName)
    waiting.add(pod)
    await writes.markUnschedulable(pod, plan)
    if (plan.preemption !== null) await evictVictims(pod, plan.preemption.nodeName, plan.preemption.victims)
  }

  /** Capacity is reserved before the response arrives, so that no other pod gets it. */
  async function bind(pod: Pod, nodeName: string): Promise<void> {
    const { name, namespace = '' } = pod.metadata
    const bound = { ...pod, spec: { ...pod.spec, nodeName } }
    ledger.putPod(bound)
    try {
      await ignoreMissing(client.bind(name, namespace, nodeName))
    } catch (error) {
      ledger.removePod(bound)
      throw error
    }
    if (pods.get(name, namespace) === undefined) ledger.removePod(bound)
    else events.record(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${nodeName}`)
  }

  async function evictVictims(pod: Pod, nodeName: string, victims: readonly Pod[]): Promise<void> {
    nominations.add(pod, nodeName)
    for (const victim of victims) await writes.preempt(victim, pod, nodeName)
  }

  return {
    stop() {
      queue.stop()
      nodes.stop()
      pods.stop()
      budgets.stop()
    },
  }
}

/** Heartbeats change only parts of a node's status that do not matter here. */
function isOtherPlace(node: Node, before: Node): boolean {
  const allocatable = ({ status }: Node): unknown => (status as { readonly allocatable?: unknown } | undefined)?.allocatable
  return node.spec !== before.spec || node.metadata.labels !== before.metadata.labels || !isSameJson(allocatable(node), allocatable(before))
}
