import type { Clock } from '@tranche/clock'
import { isSameJson, keyOf, keyText, type LabelSelector, parseKey, type Pod } from '@tranche/kube-types'
import { type ApiObject, isTerminal, resources, type SimClient, timestamp } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { createEventRecorder, type EventRecorder } from '../machinery/event-recorder.ts'
import { ignoreMissing } from '../machinery/ignore-missing.ts'
import { createInformer, type Informer } from '../machinery/informer.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue, type WorkQueue } from '../machinery/work-queue.ts'
import { type BudgetPlan, type DisruptionBudget, planBudget, selectsPod } from './disruption-budget.ts'

const WORKERS = 1
/** Time for which a pod may carry DisruptionTarget without being deleted. */
const STALE_MARK_MS = 120_000

/** Runs the disruption controller, which maintains the status of PodDisruptionBudgets that evictions count down. */
export function startDisruptionController(options: ControllerOptions): RunningController {
  return new DisruptionController(options)
}

class DisruptionController implements RunningController {
  readonly #client: SimClient
  readonly #clock: Clock
  readonly #events: EventRecorder
  readonly #queue: WorkQueue
  /** Keys of pods whose DisruptionTarget may be stale. */
  readonly #marks: WorkQueue
  /** Selected pods, by the budget's key. */
  readonly #selected = new Map<string, Map<string, Pod>>()
  readonly #budgets: Informer<DisruptionBudget>
  readonly #pods: Informer<Pod>

  constructor({ client, clock, onError }: ControllerOptions) {
    this.#client = client
    this.#clock = clock
    this.#events = createEventRecorder(client, clock, 'controllermanager')
    const limiter = createRateLimiter(() => clock.monotonicMs())
    this.#queue = createWorkQueue({ clock, limiter, workers: WORKERS, work: (key) => this.#sync(key), onError })
    this.#marks = createWorkQueue({ clock, limiter, workers: WORKERS, work: (key) => this.#clearStaleMark(key), onError })
    this.#budgets = this.#watchBudgets()
    this.#pods = this.#watchPods()
  }

  stop(): void {
    this.#queue.stop()
    this.#marks.stop()
    this.#budgets.stop()
    this.#pods.stop()
  }

  #watchBudgets(): Informer<DisruptionBudget> {
    return createInformer<DisruptionBudget>(this.#client, resources.podDisruptionBudgets, {
      added: (budget) => this.#takeBudget(budget),
      updated: (budget, before) => {
        if (budget.spec !== before.spec) this.#takeBudget(budget)
        else this.#queue.add(keyText(keyOf(budget)))
      },
      deleted: (budget) => void this.#selected.delete(keyText(keyOf(budget))),
    })
  }

  #watchPods(): Informer<Pod> {
    return createInformer<Pod>(this.#client, resources.pods, {
      added: (pod) => this.#takePod(pod),
      updated: (pod) => this.#takePod(pod),
      deleted: (pod) => {
        for (const [key, chosen] of this.#selected) if (chosen.delete(keyText(keyOf(pod)))) this.#queue.add(key)
      },
    })
  }

  #takeBudget(budget: DisruptionBudget): void {
    const chosen = new Map<string, Pod>()
    for (const pod of this.#pods.values()) if (selectsPod(budget, pod)) chosen.set(keyText(keyOf(pod)), pod)
    this.#selected.set(keyText(keyOf(budget)), chosen)
    this.#queue.add(keyText(keyOf(budget)))
  }

  #takePod(pod: Pod): void {
    if (isMarked(pod)) this.#marks.addAfter(keyText(keyOf(pod)), markLeftMs(pod, this.#clock.nowMs()))
    const key = keyText(keyOf(pod))
    for (const [budgetKey, chosen] of this.#selected) {
      const { namespace, name } = parseKey(budgetKey)
      const budget = this.#budgets.get(name, namespace)
      const isChosen = budget !== undefined && selectsPod(budget, pod)
      if (isChosen) chosen.set(key, pod)
      if (isChosen || chosen.delete(key)) this.#queue.add(budgetKey)
    }
  }

  async #sync(key: string): Promise<void> {
    await Promise.all([this.#budgets.synced, this.#pods.synced])
    const { namespace, name } = parseKey(key)
    const budget = this.#budgets.get(name, namespace)
    if (budget === undefined) return
    const chosen = [...(this.#selected.get(key)?.values() ?? [])]
    if (chosen.length === 0) this.#events.record(budget, 'Normal', 'NoPods', 'No matching pods found')
    const plan = planBudget(budget, chosen, { nowMs: this.#clock.nowMs(), whyNoScale: (owner) => whyNoScale(this.#client, owner) })
    this.#recordEvents(budget, plan)
    await this.#writeStatus(budget, plan)
    if (plan.kind === 'counted' && plan.recheckAfterMs !== null) this.#queue.addAfter(key, plan.recheckAfterMs + 1)
  }

  #recordEvents(budget: DisruptionBudget, plan: BudgetPlan): void {
    if (plan.kind === 'failed') {
      const message = `Failed to calculate the number of expected pods: ${plan.message}`
      return this.#events.record(budget, 'Warning', 'CalculateExpectedPodCountFailed', message)
    }
    if (plan.unmanaged.length > 0) this.#events.record(budget, 'Warning', 'UnmanagedPods', unmanagedText(budget.spec.selector))
    const { namespace } = budget.metadata
    for (const pod of plan.notDeleted)
      this.#events.record(pod, 'Warning', 'NotDeleted', `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`)
  }

  async #writeStatus(budget: DisruptionBudget, { status }: BudgetPlan): Promise<void> {
    if (isSameJson(status, budget.status ?? {})) return
    await ignoreMissing(this.#client.update(resources.podDisruptionBudgets, { ...budget, status } as unknown as ApiObject, 'status'))
  }

  async #clearStaleMark(key: string): Promise<void> {
    const { namespace, name } = parseKey(key)
    const pod = this.#pods.get(name, namespace)
    const nowMs = this.#clock.nowMs()
    if (pod === undefined || !isMarked(pod) || markLeftMs(pod, nowMs) > 0) return
    const unmarked = { type: 'DisruptionTarget', status: 'False', lastTransitionTime: timestamp(nowMs) }
    const conditions = (pod.status?.conditions ?? []).map((one) => (one.type === 'DisruptionTarget' ? unmarked : one))
    const patch = { metadata: { resourceVersion: pod.metadata.resourceVersion }, status: { conditions } }
    await ignoreMissing(this.#client.patch(resources.pods, name, namespace, patch, 'status'))
  }
}

function unmanagedText(selector: LabelSelector | undefined): string {
  return (
    `Pods selected by this PodDisruptionBudget (selector: ${selectorText(selector ?? {})}) were found to be unmanaged. As a result, the ` +
    'status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ' +
    '".spec.minAvailable" field of the PDB to an integer value.'
  )
}

/** Format of Go's print. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}: ${value},`)
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) => `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  )
  return `&LabelSelector{MatchLabels:map[string]string{${labels.sort().join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`
}

/** The controllers of the simulator have no scale. */
function whyNoScale(client: SimClient, { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string {
  const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : ''
  const served = client.discover().find((one) => one.id.group === group && one.kind === kind)
  if (served === undefined) return `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
  const name = group === '' ? served.id.resource : `${served.id.resource}.${group}`
  return `${name} does not implement the scale subresource`
}

function isMarked(pod: Pod): boolean {
  if (pod.metadata.deletionTimestamp !== undefined || isTerminal(pod)) return false
  const mark = pod.status?.conditions?.find(({ type }) => type === 'DisruptionTarget')
  return mark?.status === 'True' && mark.reason !== 'TerminationByKubelet'
}

function markLeftMs({ status }: Pod, nowMs: number): number {
  const since = status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.lastTransitionTime
  return Math.max(0, Date.parse(since ?? '') + STALE_MARK_MS - nowMs)
}
