import { timestamp } from '@tranche/sim-api'
import {
  type Condition,
  controllerOf,
  type IntOrString,
  type KubeObject,
  type LabelSelector,
  type Pod,
  scaleIntOrPercent,
  valueIn,
} from '@tranche/kube-types'
import { isEmptySelector, matchesSelector } from '../placement/requirements.ts'
import { isReady, isTerminating } from '../daemonset/nodes/pod-facts.ts'

/** @see policy/v1 PodDisruptionBudget */
export interface DisruptionBudget extends KubeObject {
  readonly spec: {
    readonly selector?: LabelSelector
    readonly minAvailable?: IntOrString
    readonly maxUnavailable?: IntOrString
  }
  readonly status?: Partial<BudgetStatus>
}

/** @see policy/v1 PodDisruptionBudgetStatus */
export interface BudgetStatus {
  readonly disruptionsAllowed: number
  readonly currentHealthy: number
  readonly desiredHealthy: number
  readonly expectedPods: number
  readonly observedGeneration: number
  /** Time of each accepted eviction whose pod has not been seen to disappear. */
  readonly disruptedPods?: Readonly<Record<string, string>>
  readonly conditions?: readonly BudgetCondition[]
}

interface BudgetCondition extends Condition {
  readonly observedGeneration?: number
}

/** Result of one evaluation of a budget. */
export type BudgetPlan =
  | {
      readonly kind: 'counted'
      readonly status: BudgetStatus
      /** Pods that still exist long after their eviction was accepted. */
      readonly notDeleted: readonly Pod[]
      readonly unmanaged: readonly string[]
      /** When to evaluate again without a change; null: never. */
      readonly recheckAfterMs: number | null
    }
  /** The budget cannot be counted. No eviction is allowed until it can be. */
  | { readonly kind: 'failed'; readonly status: Partial<BudgetStatus>; readonly message: string }

/** Time for which an accepted eviction counts as a pod that is down before it is observed. */
const DELETION_TIMEOUT_MS = 120_000

/**
 * Computes the status of a budget.
 *
 * @param pods all pods that it selects
 * @param whyNoScale explains why the scale of a controller is unknown
 */
export function planBudget(
  budget: DisruptionBudget,
  pods: readonly Pod[],
  ports: { readonly nowMs: number; readonly whyNoScale: (owner: { readonly apiVersion: string; readonly kind: string }) => string },
): BudgetPlan {
  const { nowMs } = ports
  const sizes = sizesOf(budget, pods, ports.whyNoScale)
  if (typeof sizes === 'string') return failed(budget, sizes, nowMs)
  const { disruptedPods, notDeleted, recheckAfterMs } = disruptionsOf(budget, pods, nowMs)
  const currentHealthy = pods.filter((pod) => isHealthy(pod) && valueIn(disruptedPods, pod.metadata.name) === undefined).length
  const disruptionsAllowed = sizes.expectedPods > 0 ? Math.max(0, currentHealthy - sizes.desiredHealthy) : 0
  const observedGeneration = budget.metadata.generation ?? 0
  const counted = { ...sizes, currentHealthy, disruptionsAllowed, observedGeneration }
  const condition = { ...sufficiency(disruptionsAllowed), observedGeneration }
  const status: BudgetStatus = {
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy: counted.desiredHealthy,
    expectedPods: counted.expectedPods,
    observedGeneration,
    ...(Object.keys(disruptedPods).length > 0 && { disruptedPods }),
    conditions: withCondition(budget.status?.conditions ?? [], condition, nowMs),
  }
  return { kind: 'counted', status, notDeleted, unmanaged: sizes.unmanaged, recheckAfterMs }
}

/** A budget without a selector selects nothing; one with an empty selector selects every pod of its namespace. */
export function selectsPod({ metadata, spec: { selector } }: DisruptionBudget, pod: Pod): boolean {
  if (metadata.namespace !== pod.metadata.namespace || selector === undefined) return false
  return isEmptySelector(selector) || matchesSelector(selector, pod.metadata.labels)
}

interface Sizes {
  readonly expectedPods: number
  readonly desiredHealthy: number
  readonly unmanaged: readonly string[]
}

/** A whole-number `minAvailable` counts the existing pods; every other form needs the scales of their controllers. */
function sizesOf(
  { spec: { minAvailable, maxUnavailable } }: DisruptionBudget,
  pods: readonly Pod[],
  whyNoScale: (owner: { readonly apiVersion: string; readonly kind: string }) => string,
): Sizes | string {
  if (maxUnavailable === undefined && typeof minAvailable === 'number')
    return { expectedPods: pods.length, desiredHealthy: minAvailable, unmanaged: [] }
  if (maxUnavailable === undefined && minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0, unmanaged: [] }
  const owner = pods.map(controllerOf).find((one) => one !== undefined)
  if (owner !== undefined) return whyNoScale(owner)
  const unmanaged = pods.map(({ metadata }) => metadata.name)
  const expectedPods = 0
  const share = scaleIntOrPercent(maxUnavailable ?? minAvailable ?? 0, expectedPods) ?? 0
  return { expectedPods, desiredHealthy: maxUnavailable === undefined ? share : Math.max(0, expectedPods - share), unmanaged }
}

function disruptionsOf({ status }: DisruptionBudget, pods: readonly Pod[], nowMs: number) {
  const disruptedPods: Record<string, string> = {}
  const notDeleted: Pod[] = []
  let recheckAfterMs: number | null = null
  for (const pod of pods) {
    const since = valueIn(status?.disruptedPods, pod.metadata.name)
    if (since === undefined || pod.metadata.deletionTimestamp !== undefined) continue
    const leftMs = Date.parse(since) + DELETION_TIMEOUT_MS - nowMs
    if (leftMs < 0) notDeleted.push(pod)
    else {
      disruptedPods[pod.metadata.name] = since
      recheckAfterMs = Math.min(recheckAfterMs ?? leftMs, leftMs)
    }
  }
  return { disruptedPods, notDeleted, recheckAfterMs }
}

function isHealthy(pod: Pod): boolean {
  return !isTerminating(pod) && isReady(pod)
}

function sufficiency(disruptionsAllowed: number): Pick<Condition, 'status' | 'reason'> {
  return disruptionsAllowed > 0 ? { status: 'True', reason: 'SufficientPods' } : { status: 'False', reason: 'InsufficientPods' }
}

/** Keeps the observed generation: evictions wait for one that has been counted. */
function failed({ status = {} }: DisruptionBudget, message: string, nowMs: number): BudgetPlan {
  const { observedGeneration } = status
  const condition = { status: 'False', reason: 'SyncFailed', message, ...(observedGeneration !== undefined && { observedGeneration }) }
  const conditions = withCondition(status.conditions ?? [], condition, nowMs)
  return { kind: 'failed', message, status: { ...status, disruptionsAllowed: 0, conditions } }
}

/** A condition keeps its time while its status is unchanged, and its message unless a new one is given. */
function withCondition(
  conditions: readonly BudgetCondition[],
  wanted: Omit<BudgetCondition, 'type' | 'lastTransitionTime'>,
  nowMs: number,
): readonly BudgetCondition[] {
  const before = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const lastTransitionTime = before?.status === wanted.status ? (before.lastTransitionTime ?? timestamp(nowMs)) : timestamp(nowMs)
  const condition = { type: 'DisruptionAllowed', message: '', ...wanted, lastTransitionTime }
  return before === undefined ? [...conditions, condition] : conditions.map((one) => (one === before ? condition : one))
}
