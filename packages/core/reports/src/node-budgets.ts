import { notReadyDefaults, type NodeBudget, type NodeBudgetReason } from '@tranche/api-schema'
import { budgetReasonOf, type Exemption, type ExemptionQuestion, exemptNodes, isInReach, nodesInFlight, tallyNodes } from '@tranche/fence'
import type { NodeView } from '@tranche/fleet'
import { stateQuestion } from './node-state.ts'
import { comparedStable, isReleaseUnderWay, type Outline, permitsOf } from './outline.ts'

/** @returns the nodes without an available pod, and which of them the policy exempts from the budget: as executors count */
export function exemptionIn(outline: Outline): { readonly question: ExemptionQuestion; readonly exemption: Exemption } {
  const { facts, fleet, canary, minReadyMs, former } = outline
  const stable = comparedStable(outline)
  const { monotonicMs } = facts
  const { unavailable } = tallyNodes(fleet, { revision: canary, minReadyMs, monotonicMs })
  const { rules } = stateQuestion(outline).scope
  const inFlight = nodesInFlight(permitsOf(outline), fleet)
  const question = { unavailable, revisions: { canary, stable, former }, inFlight, rules, desired: fleet.desired, monotonicMs }
  return { question, exemption: exemptNodes(question) }
}

/** Whether a node is NotReady or in maintenance. */
export function isOutOfReach({ ready, maintenance }: NodeView): boolean {
  return !ready || maintenance !== undefined
}

/** Whether nodes out of reach cost budget. */
export interface NodeBudgets {
  /** By name: nodes without an available pod that are NotReady or in maintenance. */
  readonly budgets: ReadonlyMap<string, NodeBudget>
  /** Monotonic time at which another node counts as dead by the clock alone; Infinity without one. */
  readonly budgetsChangeAtMs: number
}

/** Says of each node out of reach whether it costs budget, and why. Empty while no release runs: then nothing is taken down. */
export function nodeBudgetsIn(outline: Outline): NodeBudgets {
  if (!isReleaseUnderWay(outline.facts.rollout)) return { budgets: new Map(), budgetsChangeAtMs: Number.POSITIVE_INFINITY }
  const { question, exemption } = exemptionIn(outline)
  const { after = notReadyDefaults.after } = outline.rules?.notReady ?? {}
  const budgets = question.unavailable.filter(isOutOfReach).map((node): [string, NodeBudget] => {
    const reason = budgetReasonOf(node, question, exemption)
    return [node.name, { counts: reason !== 'Exempt', reason, message: texts[reason]({ node, question, exemption, after }) }]
  })
  return { budgets: new Map(budgets), budgetsChangeAtMs: exemption.nextAtMs ?? Number.POSITIVE_INFINITY }
}

interface Described {
  readonly node: NodeView
  readonly question: ExemptionQuestion
  readonly exemption: Exemption
  /** `nodes.notReady.after` of the policy. */
  readonly after: string
}

const texts: Readonly<Record<NodeBudgetReason, (one: Described) => string>> = {
  Exempt: ({ exemption: { dead, most } }) =>
    `costs no budget: it was lost before its update, and nodes.notReady.exempt leaves out up to ${most} dead nodes; ${dead.length === 1 ? '1 is' : `${dead.length} are`} dead`,
  TooManyDead: ({ exemption: { dead, most } }) =>
    `costs budget: ${dead.length === 1 ? '1 node is dead' : `${dead.length} nodes are dead`}, and nodes.notReady.exempt leaves out at most ${most}, so all of them count`,
  InFlight: () =>
    'costs budget until it is back, or its Node object is deleted: it went away while its pod was replaced, or before executors recorded the new one',
  NeverStable: ({ node, question: { revisions } }) =>
    isInReach(node, revisions)
      ? 'costs budget until its pod is replaced: it runs a revision that was never stable, which may be why it is NotReady'
      : 'costs budget until it is back, or its Node object is deleted: it runs a revision that was never stable, which may be why it is away',
  Updated: () => 'costs budget until it is back, or its Node object is deleted: it was lost after its update',
  NoPod: () => 'costs budget until it is back, or its Node object is deleted: no pod shows that it was lost before its update',
  NotDeadYet: ({ after }) => `costs budget until it has been NotReady for ${after} (nodes.notReady.after)`,
}
