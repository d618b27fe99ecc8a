import { type Condition, isSameJson, keyOf, keyText, type Node, parseKey, type Pod } from '@tranche/kube-types'
import { isTerminal, resources, timestamp } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../daemonset/daemon-set-controller.ts'
import { type DisruptionBudget, selectsPod } from '../disruption/disruption-budget.ts'
import { createEventRecorder } from '../machinery/event-recorder.ts'
import { ignoreMissing } from '../machinery/ignore-missing.ts'
import { createInformer } from '../machinery/informer.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'
import { createRoomLedger } from './cluster-rooms.ts'
import { type BindingPlan, type ClusterRooms, planBinding } from './plan-binding.ts'
import { specOf } from './pod-demand.ts'
import { createWaitingPods } from './waiting-pods.ts'

const WORKERS = 8
const NAME = 'default-scheduler'

type Unschedulable = Extract<BindingPlan, { kind: 'unschedulable' }>

/**
 * Runs the scheduler: pods are bound to the node that they name by affinity, or to the emptiest that can take them, as soon
 * as there is room; more important ones make room for themselves.
 */
export function startScheduler({ client, clock, onError }: ControllerOptions): RunningController {
  const events = createEventRecorder(client, clock, NAME)
  const limiter = createRateLimiter(() => clock.monotonicMs())
  const queue = createWorkQueue({ clock, limiter, workers: WORKERS, work: schedule, onError })
  const ledger = createRoomLedger()
  const waiting = createWaitingPods()
  /** Pods for which room was made, by node. */
  const nominated = new Map<string, Map<string, Pod>>()
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
      forgetNomination(pod)
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
      forgetNomination(pod)
      ledger.putPod(pod)
      if (before === undefined || isTerminal(pod) !== isTerminal(before) || pod.metadata.labels !== before.metadata.labels) retryAround(pod)
    } else if (before === undefined || pod.spec !== before.spec) queue.add(keyText(keyOf(pod)))
  }

  function retryAround(pod: Pod): void {
    if (pod.spec?.nodeName) retry(waiting.for(pod.spec.nodeName))
    retry(waiting.forPods())
  }

  function forgetNomination({ metadata }: Pod): void {
    for (const promised of nominated.values()) promised.delete(metadata.uid)
  }

  const cluster: ClusterRooms = {
    get size() {
      return ledger.size
    },
    get hasAntiAffinity() {
      return ledger.hasAntiAffinity
    },
    get: (nodeName) => ledger.get(nodeName),
    values: () => ledger.values(),
    nominated: (nodeName) => [...(nominated.get(nodeName)?.values() ?? [])],
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
    await markUnschedulable(pod, plan)
    if (plan.preemption !== null) await preempt(pod, plan.preemption.nodeName, plan.preemption.victims)
  }

  /** The room is taken before the answer comes, so that no other pod is given it. */
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

  async function markUnschedulable(pod: Pod, { message, preemption }: Unschedulable): Promise<void> {
    const conditions = pod.status?.conditions ?? []
    const nominatedNodeName = preemption?.nodeName
    const before = conditions.find(({ type }) => type === 'PodScheduled')
    events.record(pod, 'Warning', 'FailedScheduling', message)
    if (before?.message === message && nominatedNodeName === undefined) return
    const since = before?.status === 'False' ? before.lastTransitionTime : undefined
    const condition: Condition & { readonly observedGeneration?: number } = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message,
      ...(pod.metadata.generation !== undefined && { observedGeneration: pod.metadata.generation }),
      lastTransitionTime: since ?? timestamp(clock.nowMs()),
    }
    const status = {
      conditions: [...conditions.filter(({ type }) => type !== 'PodScheduled'), condition],
      ...(nominatedNodeName !== undefined && { nominatedNodeName }),
    }
    const { name, namespace } = pod.metadata
    await ignoreMissing(client.patch(resources.pods, name, namespace, { status }, 'status'))
  }

  async function preempt(pod: Pod, nodeName: string, victims: readonly Pod[]): Promise<void> {
    let promised = nominated.get(nodeName)
    if (promised === undefined) nominated.set(nodeName, (promised = new Map()))
    promised.set(pod.metadata.uid, pod)
    for (const victim of victims) await drive(victim, pod, nodeName)
  }

  async function drive(victim: Pod, pod: Pod, nodeName: string): Promise<void> {
    if (victim.metadata.deletionTimestamp !== undefined) return
    const { name, namespace, uid } = victim.metadata
    const mark = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: `${NAME}: preempting to accommodate a higher priority pod`,
      lastTransitionTime: timestamp(clock.nowMs()),
    }
    const conditions = [...(victim.status?.conditions ?? []).filter(({ type }) => type !== mark.type), mark]
    await ignoreMissing(client.patch(resources.pods, name, namespace, { metadata: { uid }, status: { conditions } }, 'status'))
    await ignoreMissing(client.delete(resources.pods, name, namespace, { preconditions: { uid } }))
    events.record(victim, 'Normal', 'Preempted', `Preempted by pod ${pod.metadata.uid} on node ${nodeName}`)
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

/** Heartbeats change a node's status and nothing that counts here. */
function isOtherPlace(node: Node, before: Node): boolean {
  const allocatable = ({ status }: Node): unknown => (status as { readonly allocatable?: unknown } | undefined)?.allocatable
  return node.spec !== before.spec || node.metadata.labels !== before.metadata.labels || !isSameJson(allocatable(node), allocatable(before))
}
