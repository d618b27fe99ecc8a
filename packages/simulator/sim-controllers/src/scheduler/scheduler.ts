import { isSameJson, keyOf, keyText, type Node, parseKey, type Pod } from '@tranche/kube-types'
import { isStatus, isTerminal, resources, type SimClient } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { type DisruptionBudget, selectsPod } from '../disruption/disruption-budget.ts'
import { createEventRecorder, type EventRecorder } from '../machinery/event-recorder.ts'
import { createInformer, type Informer } from '../machinery/informer.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue, type WorkQueue } from '../machinery/work-queue.ts'
import { type CapacityLedger, createCapacityLedger } from './capacity-ledger.ts'
import { createNominations, type Nominations } from './nominations.ts'
import { type ClusterCapacities, planBinding } from './plan-binding.ts'
import { specOf } from './pod-demand.ts'
import { createSchedulerWrites, type SchedulerWrites } from './scheduler-writes.ts'
import { createPendingPods } from './pending-pods.ts'

const WORKERS = 8
const NAME = 'default-scheduler'

/**
 * Runs the scheduler. Pods are bound to the node that their affinity names, or to the emptiest feasible one, as soon as there is room; pods
 * of higher priority preempt others.
 */
export function startScheduler(options: ControllerOptions): RunningController {
  return new Scheduler(options)
}

class Scheduler implements RunningController {
  readonly #client: SimClient
  readonly #events: EventRecorder
  readonly #writes: SchedulerWrites
  readonly #queue: WorkQueue
  readonly #ledger = createCapacityLedger()
  readonly #waiting = createPendingPods()
  readonly #nominations = createNominations()
  readonly #nodes: Informer<Node>
  readonly #budgets: Informer<DisruptionBudget>
  readonly #pods: Informer<Pod>
  readonly #cluster: ClusterCapacities

  constructor({ client, clock, onError }: ControllerOptions) {
    this.#client = client
    this.#events = createEventRecorder(client, clock, NAME)
    const limiter = createRateLimiter(() => clock.monotonicMs())
    this.#writes = createSchedulerWrites({ client, clock, events: this.#events, schedulerName: NAME })
    this.#queue = createWorkQueue({ clock, limiter, workers: WORKERS, work: (key) => this.#schedule(key), onError })
    this.#nodes = this.#watchNodes()
    this.#budgets = createInformer<DisruptionBudget>(client, resources.podDisruptionBudgets, {})
    this.#pods = this.#watchPods()
    this.#cluster = capacitiesOf(this.#ledger, this.#nominations, this.#budgets)
  }

  stop(): void {
    this.#queue.stop()
    this.#nodes.stop()
    this.#pods.stop()
    this.#budgets.stop()
  }

  #watchNodes(): Informer<Node> {
    return createInformer<Node>(this.#client, resources.nodes, {
      added: (node) => this.#putNode(node),
      updated: (node, before) => {
        if (isOtherPlace(node, before)) this.#putNode(node)
      },
      deleted: (node) => {
        this.#ledger.removeNode(node.metadata.name)
        this.#retry(this.#waiting.for(node.metadata.name))
      },
    })
  }

  #watchPods(): Informer<Pod> {
    return createInformer<Pod>(this.#client, resources.pods, {
      added: (pod) => this.#putPod(pod),
      updated: (pod, before) => this.#putPod(pod, before),
      deleted: (pod) => {
        this.#waiting.delete(pod)
        this.#nominations.delete(pod)
        this.#ledger.removePod(pod)
        this.#retryAround(pod)
      },
    })
  }

  #putNode(node: Node): void {
    this.#ledger.putNode(node)
    this.#retry(this.#waiting.for(node.metadata.name))
  }

  #putPod(pod: Pod, before?: Pod): void {
    if (pod.spec?.nodeName) {
      this.#waiting.delete(pod)
      this.#nominations.delete(pod)
      this.#ledger.putPod(pod)
      if (before === undefined || isOtherUse(pod, before)) this.#retryAround(pod)
    } else if (before === undefined || pod.spec !== before.spec) this.#queue.add(keyText(keyOf(pod)))
  }

  #retryAround(pod: Pod): void {
    if (pod.spec?.nodeName) this.#retry(this.#waiting.for(pod.spec.nodeName))
    this.#retry(this.#waiting.forPods())
  }

  #retry(keys: readonly string[]): void {
    for (const key of keys) this.#queue.add(key)
  }

  async #schedule(key: string): Promise<void> {
    await Promise.all([this.#nodes.synced, this.#pods.synced, this.#budgets.synced])
    const { namespace, name } = parseKey(key)
    const pod = this.#pods.get(name, namespace)
    if (pod === undefined || pod.spec?.nodeName || pod.metadata.deletionTimestamp !== undefined || isTerminal(pod)) return
    if ((specOf(pod).schedulerName ?? NAME) !== NAME) return
    this.#waiting.delete(pod)
    const plan = planBinding(pod, this.#cluster)
    if (plan.kind === 'bind') return this.#bind(pod, plan.nodeName)
    this.#waiting.add(pod)
    await this.#writes.markUnschedulable(pod, plan)
    if (plan.preemption !== null) await this.#evictVictims(pod, plan.preemption.nodeName, plan.preemption.victims)
  }

  /** Capacity is reserved before the response arrives, so that no other pod gets it. */
  async #bind(pod: Pod, nodeName: string): Promise<void> {
    const { name, namespace = '' } = pod.metadata
    const bound = { ...pod, spec: { ...pod.spec, nodeName } }
    this.#ledger.putPod(bound)
    try {
      await this.#client.bind(name, namespace, nodeName)
    } catch (error) {
      this.#ledger.removePod(bound)
      this.#retryAround(bound)
      if (isStatus(error, 404)) return
      throw error
    }
    if (this.#pods.get(name, namespace) === undefined) this.#ledger.removePod(bound)
    else this.#events.record(pod, 'Normal', 'Scheduled', `Successfully assigned ${namespace}/${name} to ${nodeName}`)
  }

  async #evictVictims(pod: Pod, nodeName: string, victims: readonly Pod[]): Promise<void> {
    this.#nominations.add(pod, nodeName)
    for (const victim of victims) await this.#writes.preempt(victim, pod, nodeName)
  }
}

/** Current state of the cluster, as decisions read it. */
function capacitiesOf(ledger: CapacityLedger, nominations: Nominations, budgets: Informer<DisruptionBudget>): ClusterCapacities {
  return {
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
}

/** Whether the pod may now leave more capacity, or match other affinities, than before. */
function isOtherUse(pod: Pod, before: Pod): boolean {
  return isTerminal(pod) !== isTerminal(before) || pod.metadata.labels !== before.metadata.labels
}

/** Heartbeats change only parts of a node's status that do not matter here. */
function isOtherPlace(node: Node, before: Node): boolean {
  const allocatable = ({ status }: Node): unknown => (status as { readonly allocatable?: unknown } | undefined)?.allocatable
  return node.spec !== before.spec || node.metadata.labels !== before.metadata.labels || !isSameJson(allocatable(node), allocatable(before))
}
