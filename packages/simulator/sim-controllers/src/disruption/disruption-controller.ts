import { isSameJson, keyOf, keyText, type LabelSelector, parseKey, type Pod } from '@tranche/kube-types'
import { type ApiObject, isTerminal, resources, type SimClient, timestamp } from '@tranche/sim-api'
import type { ControllerOptions, RunningController } from '../machinery/running-controller.ts'
import { createEventRecorder } from '../machinery/event-recorder.ts'
import { ignoreMissing } from '../machinery/ignore-missing.ts'
import { createInformer } from '../machinery/informer.ts'
import { createRateLimiter } from '../machinery/rate-limiter.ts'
import { createWorkQueue } from '../machinery/work-queue.ts'
import { type BudgetPlan, type DisruptionBudget, planBudget, selectsPod } from './disruption-budget.ts'

const WORKERS = 1
/** Time for which a pod may carry DisruptionTarget without being deleted. */
const STALE_MARK_MS = 120_000

/** Runs the disruption controller, which maintains the status of PodDisruptionBudgets that evictions count down. */
export function startDisruptionController({ client, clock, onError }: ControllerOptions): RunningController {
  const events = createEventRecorder(client, clock, 'controllermanager')
  const limiter = createRateLimiter(() => clock.monotonicMs())
  const queue = createWorkQueue({ clock, limiter, workers: WORKERS, work: sync, onError })
  const marks = createWorkQueue({ clock, limiter, workers: WORKERS, work: clearStaleMark, onError })
  /** Selected pods, by the budget's key. */
  const selected = new Map<string, Map<string, Pod>>()
  const budgets = createInformer<DisruptionBudget>(client, resources.podDisruptionBudgets, {
    added: takeBudget,
    updated(budget, before) {
      if (budget.spec !== before.spec) takeBudget(budget)
      else queue.add(keyText(keyOf(budget)))
    },
    deleted: (budget) => void selected.delete(keyText(keyOf(budget))),
  })
  const pods = createInformer<Pod>(client, resources.pods, {
    added: takePod,
    updated: takePod,
    deleted(pod) {
      for (const [key, chosen] of selected) if (chosen.delete(keyText(keyOf(pod)))) queue.add(key)
    },
  })

  function takeBudget(budget: DisruptionBudget): void {
    const chosen = new Map<string, Pod>()
    for (const pod of pods.values()) if (selectsPod(budget, pod)) chosen.set(keyText(keyOf(pod)), pod)
    selected.set(keyText(keyOf(budget)), chosen)
    queue.add(keyText(keyOf(budget)))
  }

  function takePod(pod: Pod): void {
    if (isMarked(pod)) marks.addAfter(keyText(keyOf(pod)), markLeftMs(pod, clock.nowMs()))
    const key = keyText(keyOf(pod))
    for (const [budgetKey, chosen] of selected) {
      const { namespace, name } = parseKey(budgetKey)
      const budget = budgets.get(name, namespace)
      const isChosen = budget !== undefined && selectsPod(budget, pod)
      if (isChosen) chosen.set(key, pod)
      if (isChosen || chosen.delete(key)) queue.add(budgetKey)
    }
  }

  async function sync(key: string): Promise<void> {
    await Promise.all([budgets.synced, pods.synced])
    const { namespace, name } = parseKey(key)
    const budget = budgets.get(name, namespace)
    if (budget === undefined) return
    const chosen = [...(selected.get(key)?.values() ?? [])]
    if (chosen.length === 0) events.record(budget, 'Normal', 'NoPods', 'No matching pods found')
    const plan = planBudget(budget, chosen, { nowMs: clock.nowMs(), whyNoScale: (owner) => whyNoScale(client, owner) })
    writeStatus(budget, plan)
    await write(budget, plan)
    if (plan.kind === 'counted' && plan.recheckAfterMs !== null) queue.addAfter(key, plan.recheckAfterMs + 1)
  }

  function writeStatus(budget: DisruptionBudget, plan: BudgetPlan): void {
    if (plan.kind === 'failed') {
      const message = `Failed to calculate the number of expected pods: ${plan.message}`
      return events.record(budget, 'Warning', 'CalculateExpectedPodCountFailed', message)
    }
    if (plan.unmanaged.length > 0) events.record(budget, 'Warning', 'UnmanagedPods', unmanagedText(budget.spec.selector))
    const { namespace } = budget.metadata
    for (const pod of plan.notDeleted)
      events.record(pod, 'Warning', 'NotDeleted', `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`)
  }

  async function write(budget: DisruptionBudget, { status }: BudgetPlan): Promise<void> {
    if (isSameJson(status, budget.status ?? {})) return
    await ignoreMissing(client.update(resources.podDisruptionBudgets, { ...budget, status } as unknown as ApiObject, 'status'))
  }

  async function clearStaleMark(key: string): Promise<void> {
    const { namespace, name } = parseKey(key)
    const pod = pods.get(name, namespace)
    if (pod === undefined || !isMarked(pod) || markLeftMs(pod, clock.nowMs()) > 0) return
    const unmarked = { type: 'DisruptionTarget', status: 'False', lastTransitionTime: timestamp(clock.nowMs()) }
    const conditions = (pod.status?.conditions ?? []).map((one) => (one.type === 'DisruptionTarget' ? unmarked : one))
    const { resourceVersion } = pod.metadata
    await ignoreMissing(client.patch(resources.pods, name, namespace, { metadata: { resourceVersion }, status: { conditions } }, 'status'))
  }

  return {
    stop() {
      queue.stop()
      marks.stop()
      budgets.stop()
      pods.stop()
    },
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
