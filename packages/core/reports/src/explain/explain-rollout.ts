import { type Explanation, isGroupWait, type LeftCause, waitText } from '@tranche/api-schema'
import { nodeInView } from '@tranche/fleet'
import { budgetUsersText, firstNodes, hashOf, outageStart } from '@tranche/planner'
import { begunAt, type Exemption } from '@tranche/fence'
import { recordedActionsOf } from '@tranche/actions'
import { parseTime, valueIn } from '@tranche/kube-types'
import { isOverButForNodes, leftNodesIn } from '../left-nodes.ts'
import { needOf } from '../need-of.ts'
import { conditionIn, outcomeIn } from '../outcome-of.ts'
import { otherWorkload } from '../other-workload.ts'
import { type Outline, outlineOf, progressOf } from '../outline.ts'
import { pauseText } from '../pause-text.ts'
import { pinnedConfigOf, pinnedConfigText } from '../policy/pinned-config.ts'
import { policyStateOf } from '../policy/policy-state.ts'
import { blockedNodesOf, presentMessage, presentWait } from '../present-message.ts'
import { budgetUsersIn } from '../report-budget.ts'
import type { ReleaseFacts } from '../release-facts.ts'
import { reportRevisions } from '../report-revisions.ts'
import { blockedRules, groupRules, nextText, reachRules, ofVersionBefore, ruleOf, standstillOf } from '../standstill.ts'
import { summaryOf } from '../summarize-rollout.ts'

/** Explains what a Rollout waits for: the rule, the explanation, and the event that would change it. */
export function explainRollout(facts: ReleaseFacts): Explanation {
  const outline = outlineOf(facts)
  const { rule, answer, isWait = false } = verdictOf(outline)
  const next = nextText(outline)
  return {
    subject: facts.rollout.metadata.name,
    answer,
    rule,
    facts: otherWorkload(facts.rollout) === null ? factsOf(outline, answer, isWait) : [],
    ...(next !== undefined && next !== answer && { next }),
  }
}

interface Decided {
  readonly rule: string
  readonly answer: string
  /** Whether the answer has all that the release waits for. @default false */
  readonly isWait?: boolean
}

function verdictOf(outline: Outline): Decided {
  const { facts } = outline
  const outcome = outcomeIn(outline)
  const message = presentMessage(outline) ?? ''
  const need = needOf(outline, outcome)
  if (need !== undefined)
    return {
      rule: need.reason === 'StepPaused' ? 'Step' : (valueIn(blockedRules, need.reason) ?? ruleOf(need.reason)),
      answer: need.message,
    }
  if (outcome === 'RolledBack') return { rule: 'RolledBack', answer: rolledBackAnswer(outline, message) }
  if (outcome === 'Done')
    return { rule: isOverButForNodes(outline) && leftNodesIn(outline).length > 0 ? 'NodesLeft' : 'Done', answer: message }
  const still = ofVersionBefore(outline, outcome) ?? standstillOf(outline)
  if (still !== null) return { rule: still.rule, answer: still.message, isWait: still.message === presentWait(outline)?.message }
  const { generation = 0 } = facts.rollout.metadata
  if ((facts.rollout.status?.observedGeneration ?? 0) < generation) {
    return { rule: 'Pending', answer: `the controller has not yet observed generation ${generation} of the Rollout; ${message}` }
  }
  const waiting = presentWait(outline)
  // The BatchRelease reports it first, and the Rollout soon after.
  const isSaid = facts.rollout.status?.waitingFor?.reason === outline.release?.status?.waiting?.reason
  return {
    rule: runningRule(outline, waiting?.reason),
    answer: isSaid || waiting === undefined ? message : `${message}: ${waitText(waiting)}`,
    isWait: true,
  }
}

/** The message of a Rollout at rest names the version that was rolled back. */
function rolledBackAnswer(outline: Outline, message: string): string {
  if (outline.facts.rollout.status?.rollbackFrom !== undefined) return message
  return `${conditionIn(outline, 'Succeeded')?.message ?? 'the version was rolled back'}; ${message}`
}

function runningRule({ facts }: Outline, reason: string | undefined): string {
  const state = facts.rollout.status?.canaryStatus?.currentStepState
  if (reason !== undefined) return valueIn(waitingRules, reason) ?? reason
  if (state === 'StepPaused') return 'Step'
  return state === 'StepMetricsAnalysis' ? 'Soak' : 'Progressing'
}

const waitingRules: Readonly<Record<string, string>> = {
  Upgrading: 'Availability',
  NotAvailable: 'Availability',
  BudgetUsedUp: 'Budget',
  SpreadUsedUp: 'Spread',
  ...blockedRules,
  ...groupRules,
  QueueUnavailable: 'Queue',
  NodesNotReady: 'NotReady',
  ...reachRules,
  TouchUnclear: 'Stopping',
}

type Fact = Explanation['facts'][number]

function factsOf(outline: Outline, answer: string, isWaitSaid: boolean): readonly Fact[] {
  const { facts, canary, replaced, failure } = outline
  const { status } = facts.rollout
  const { nodes, step, maxUnavailable, images, phase, reason, need, outcome } = summaryOf(outline)
  const { unavailable, exemption } = progressOf(outline)
  const waiting = presentWait(outline)
  const others = leftNodesIn(outline).filter(({ cause }) => cause !== 'Dead')
  const policyText = policyStateOf(facts.rollout)?.message
  const said: readonly (readonly [string, string | undefined])[] = [
    ['phase', reason === '' ? phase : `${phase} (${reason})`],
    [
      'step',
      step === undefined
        ? undefined
        : `${step.index} of ${step.count} (${step.state}${step.since === undefined ? '' : ` since ${step.since}`})`,
    ],
    ['releases', `${canary}${images.length === 0 ? '' : `: ${images.join(', ')}`}`],
    ['changed', changedText(facts, canary)],
    ['from', replaced === canary ? undefined : replaced],
    ['nodes', `${nodes.updated} of ${nodes.desired} updated, ${nodes.updatedAvailable} of them available`],
    ['down', downText(outline, unavailable, maxUnavailable)],
    ['dead', deadText(outline, exemption)],
    [
      'waits for',
      isWaitSaid || waiting === undefined || isOverButForNodes(outline) || ofVersionBefore(outline, outcome) !== null || need !== undefined
        ? undefined
        : waitText(waiting),
    ],
    ...blockedNodesOf(outline).map(({ node, message }): readonly [string, string] => ['blocked', `${node}: ${message}`]),
    ['group', groupText(outline)],
    ['failed', failure === undefined ? undefined : failure.message],
    ...others.map(({ cause, message, next }): readonly [string, string] => [valueIn(leftFacts, cause) ?? 'left', `${message}, ${next}`]),
    ['leaked', nodes.leaked === 0 ? undefined : `${nodes.leaked}: ${firstNodes(status?.leaked?.nodes ?? [])}`],
    ['policy', policyText !== undefined && answer.startsWith(policyText) ? undefined : policyText],
    ['config', conditionIn(outline, 'ConfigUnversioned')?.message],
    ['pinned', pinnedConfigText(pinnedConfigOf(facts.daemonSet))],
    ['paused', pauseText(facts.rollout)],
    ['last action', lastActionText(outline)],
  ]
  return said.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
}

/** Config that the released revision changes: often nothing else says why there is a release. */
function changedText(facts: ReleaseFacts, canary: string): string | undefined {
  return reportRevisions(facts)
    .find(({ revision }) => revision === canary)
    ?.changedConfig?.join(', ')
}

/** Names of the facts about left nodes; `left` for the other causes. */
const leftFacts: Partial<Readonly<Record<LeftCause, string>>> = {
  Excluded: 'excluded',
  Maintenance: 'skipped',
  NotReady: 'skipped',
}

/** Nodes that use the budget; while no release runs, nothing but their number matters. */
function downText(outline: Outline, down: readonly string[], limit: number | undefined): string {
  const count = limit === undefined ? String(down.length) : `${down.length} of at most ${limit}`
  const users = budgetUsersText(budgetUsersIn(outline, down))
  return users === '' ? count : `${count}: ${users}`
}

/** Dead nodes cost no budget up to a limit. If there are more, all of them count and are among those that are down. */
function deadText({ fleet, failure }: Outline, { dead, most }: Exemption): string | undefined {
  if (dead.length === 0) return undefined
  const named = firstNodes(dead, (name) => {
    const node = nodeInView(fleet, name)
    const since = node && outageStart(node)
    return since === undefined ? name : `${name} since ${since}`
  })
  const budget =
    dead.length <= most
      ? `at most ${most} cost no budget (nodes.notReady.exempt)`
      : `all of them count as down, because at most ${most} would cost no budget (nodes.notReady.exempt)`
  const stopped = failure?.stops === true ? ' after a retry' : ''
  return `${dead.length} (${named}), updated on return${stopped}; ${budget}`
}

/** The group of a release that is in progress; while it holds the group, no other release of the group begins. */
function groupText({ release }: Outline): string | undefined {
  const { status, spec } = release ?? {}
  const group = spec?.tranche?.downtime?.group
  if (group === undefined || status?.groupLease === undefined) return undefined
  return isGroupWait(status.waiting?.reason) ? `${group}: waits for it` : `${group}: no other DaemonSet of the group is released meanwhile`
}

/** The newest action: recorded on either object, or only answered, such as an action written with kubectl. */
function lastActionText(outline: Outline): string | undefined {
  const { rollout, daemonSet } = outline.facts
  const recorded = [...recordedActionsOf(rollout), ...recordedActionsOf(daemonSet)].toSorted((a, b) => (a.at < b.at ? 1 : -1))[0]
  const { lastAction } = rollout.status ?? {}
  if (recorded !== undefined && (lastAction === undefined || lastAction.at < recorded.at)) {
    const why = recorded.reason === undefined ? '' : `: ${recorded.reason}`
    return `${recorded.type} by ${recorded.by} at ${recorded.at}${why}${earlierText(outline, recorded)}`
  }
  if (lastAction === undefined) return undefined
  const { type, by = 'an unknown user', at, result } = lastAction
  return `${type} by ${by} at ${at}: ${result}${earlierText(outline, lastAction)}`
}

/** Maximum milliseconds between an action that changes the template and the release that it starts. */
const BEGINS_MS = 60_000

/** Marks an action that belongs to an earlier release than the one shown. */
function earlierText({ facts, release, canary }: Outline, { type, at }: { readonly type: string; readonly at: string }): string {
  const revision = facts.revisions.find((one) => hashOf(one) === canary)
  const begun = [release && begunAt(release), revision?.metadata.creationTimestamp].map((at) => parseTime(at) ?? 0)
  const sinceMs = Math.max(...begun) - (type === 'undo' || type === 'restart' ? BEGINS_MS : 0)
  return (parseTime(at) ?? sinceMs) < sinceMs ? ' (in an earlier release)' : ''
}
