import { valueIn } from '@tranche/kube-types'
import type { BlockedNode, Explanation, NodeReport } from '@tranche/api-schema'
import { nodeInView, type NodeView } from '@tranche/fleet'
import { firstNodes, outageStart, stepsOf, toPublishedTarget } from '@tranche/planner'
import { badRevisionOn, keptRevision } from '../excluded-nodes.ts'
import { isOverButForNodes, leftCauseOf } from '../left-nodes.ts'
import { budgetNext, countedText, downOf } from './explain-budget.ts'
import { type NodeAnswer, permittedLater, permittedNow } from './explain-permitted.ts'
import { begunAt, hasOldPod, type NodeOutlook, nodeOutlook } from '@tranche/fence'
import { isReported, outOfReachText, stateQuestion } from '../node-state.ts'
import { personWaitOf } from '../policy/person-wait.ts'
import { isLasting } from '../lasting-stall.ts'
import { conditionIn, outcomeIn } from '../outcome-of.ts'
import { type Outline, outlineOf, permitsOf } from '../outline.ts'
import type { ReleaseFacts } from '../release-facts.ts'
import { pauseText } from '../pause-text.ts'
import { nodeMemoryOf, nodeReport } from '../report-nodes.ts'
import { stepSizes } from '../step-sizes.ts'
import { blockedNexts, blockedRules, nextText, ruleOf, standstillOf, unseenTemplate } from '../standstill.ts'

type Fact = Explanation['facts'][number]

/**
 * Explains why a node is not updated, or the result of its update.
 *
 * @returns undefined when the DaemonSet neither should run on a node of this name, now or on its return, nor has a pod there
 */
export function explainNode(facts: ReleaseFacts, name: string): Explanation | undefined {
  const outline = outlineOf(facts)
  const node = nodeInView(outline.fleet, name)
  if (node === undefined) return undefined
  const report = nodeReport(node, stateQuestion(outline), nodeMemoryOf(outline))
  const { rule, answer, next, facts: more = [] } = answerFor(outline, node, report)
  return { subject: name, answer, rule, facts: [...factsOf(outline, node, report), ...more], ...(next !== undefined && { next }) }
}

function answerFor(outline: Outline, node: NodeView, report: NodeReport): NodeAnswer {
  if (!isReported(node, stateQuestion(outline))) return node.isDeleted === true ? ofDeleted(outline, node) : notDesired(node)
  const unseen = unseenTemplate(outline)
  const stalled = conditionIn(outline, 'Stalled')
  if ((unseen !== null || outline.waiting !== undefined) && stalled?.status === 'True' && isLasting(stalled.reason))
    return {
      rule: ruleOf(stalled.reason),
      answer: `${node.name} is not updated to the present template: ${stalled.message}`,
      next: nextText(outline),
    }
  if (unseen !== null)
    return { rule: unseen.rule, answer: `${node.name} is not updated: ${unseen.message}`, next: 'the controller observes the template' }
  if (!hasOldPod(node, outline.canary)) return afterUpdate(outline, node, report)
  return notUpdated(outline, node)
}

function notDesired(node: NodeView): NodeAnswer {
  const { name, pods } = node
  if (node.desiredOnReturn === true) return desiredOnReturn(node)
  const answer = `${name} is not updated: the DaemonSet does not run on a node with its labels and taints`
  return {
    rule: 'Placement',
    answer: pods.length === 0 ? answer : `${answer}, and its pod will be deleted`,
    next: 'the labels or taints of the node change, or the placement of the DaemonSet changes',
  }
}

/** A failure that was seen on the node stays part of the verdict. */
function ofDeleted(outline: Outline, { name }: NodeView): NodeAnswer {
  const counts = outline.failure?.stops === true && outline.failure.nodes.includes(name)
  return {
    rule: 'Placement',
    answer: `${name} is not updated: no Node object has this name any more, and its pod will be deleted${counts ? '; its failure still stops the release' : ''}`,
    next: counts ? nextText(outline) : 'a node of this name joins the cluster',
  }
}

/** Kubernetes keeps the DaemonSet off a node by taints while the node is out of order. */
function desiredOnReturn(node: NodeView): NodeAnswer {
  const outage = outOfReachText(node)
  const why = outage === '' ? 'the node still has a taint for a failure' : `${outage}${outageSince(node)}`
  return {
    rule: 'NotReady',
    answer: `${node.name} is not updated: ${why}; the DaemonSet does not run there until it is back`,
    next: 'the node is Ready, and Kubernetes or a person has removed the taints for its failure',
  }
}

function afterUpdate(outline: Outline, node: NodeView, { name, state, since, batch, revision, why = '' }: NodeReport): NodeAnswer {
  const sinceText = since === undefined ? '' : ` since ${since}`
  switch (state) {
    case 'updated':
      return {
        rule: 'Updated',
        answer: `${name} runs revision ${outline.canary}${batch === undefined ? '' : ` (batch ${batch})`} and is available${sinceText}`,
      }
    case 'failing': {
      const tolerated = isOverButForNodes(outline) && outline.failure?.stops !== true ? ' and is tolerated' : ''
      const counts = stateQuestion(outline).failed.has(name) ? `, which counts as a failure of the new version${tolerated}` : ''
      const what = node.desired ? 'runs revision' : 'was lost after its update to revision'
      return {
        rule: 'Failed',
        answer: `${name} ${what} ${outline.canary} and is not available: ${why}${counts}`,
        next: nextText(outline),
      }
    }
    case 'notReady':
      return {
        rule: 'NotReady',
        answer: `${name} ${whereText(outline, node, revision)}, and ${why}${outageSince(node)}`,
        next: 'the node becomes Ready again',
      }
    default:
      return {
        rule: 'Availability',
        answer: `${name} is being updated to revision ${outline.canary}: ${why}${sinceText}`,
        next: nextOfPod(node),
      }
  }
}

/** Where the update of a node is that does not answer: its kubelet may not have removed the old pod. */
function whereText(outline: Outline, { name }: NodeView, revision: string | undefined): string {
  if (revision === outline.canary) return `is on revision ${outline.canary}`
  const isTaken = permitsOf(outline).some(({ node }) => node === name)
  return isTaken ? `went away during its update to revision ${outline.canary}` : `has no pod of revision ${outline.canary} yet`
}

function nextOfPod({ pods }: NodeView): string {
  if (pods.length === 0) return 'the DaemonSet controller creates a pod; if it does not, the events of the DaemonSet say why'
  return pods.every(({ terminating }) => terminating)
    ? 'the old pod terminates, and the new pod becomes available'
    : 'the new pod becomes available'
}

function notUpdated(outline: Outline, node: NodeView): NodeAnswer {
  const { name } = node
  if (stateQuestion(outline).scope.rules.factsOf(node.labels).isExcluded) return byOutlook(outline, node, { kind: 'excluded' })
  const still = standstillOf(outline)
  if (still !== null) return { rule: still.rule, answer: `${name} is not updated: ${still.message}`, next: nextText(outline) }
  const blocked = outline.release?.status?.flight?.blocked?.find((one) => one.node === name)
  if (blocked !== undefined) return blockedAnswer(blocked)
  const outlook = outlookIn(outline, name)
  if (outlook !== null) return byOutlook(outline, node, outlook)
  const message = 'no pod may be deleted yet: the release is starting, or its rules have just changed'
  return { rule: 'Pending', answer: `${name} is not updated: ${message}`, next: nextText(outline) }
}

function blockedAnswer({ node, reason, message }: BlockedNode): NodeAnswer {
  const next = valueIn(blockedNexts, reason)?.(node) ?? 'the check of the node succeeds'
  return {
    rule: valueIn(blockedRules, reason) ?? reason,
    answer: `${node} keeps its old pod: ${message}`,
    next: `${next}; executors look again by themselves`,
  }
}

/** State of the old pod of an excluded node where it is not ready: nothing replaces it. */
function keptText({ pods }: NodeView): string {
  const standing = pods.filter(({ terminating }) => !terminating)
  const [pod] = standing
  if (pod === undefined || standing.some(({ ready }) => ready)) return ''
  return `, where its pod is ${pod.trouble === undefined ? 'not ready' : `not ready (${pod.trouble.reason})`}`
}

/** Skipped while the release runs; left behind once it is over but for such nodes. */
function outOfReach(outline: Outline, node: NodeView): NodeAnswer {
  const { name } = node
  const left = isOverButForNodes(outline) ? 'left behind' : 'skipped'
  const dead = leftCauseOf(outline, name) === 'Dead' ? ' because it is dead' : ''
  return {
    rule: 'NotReady',
    answer: `${name} is ${left}${dead}: ${outOfReachText(node)}${outageSince(node)}`,
    next: 'the node is Ready, and not in maintenance',
  }
}

function outageSince(node: NodeView): string {
  const since = outageStart(node)
  return since === undefined ? '' : `, since ${since}`
}

/** Null while no executor has recorded which pods may be deleted. */
function outlookIn({ facts, release, fleet }: Outline, name: string): NodeOutlook | null {
  const { daemonSet, monotonicMs } = facts
  const record = release?.status?.flight
  if (daemonSet === undefined || release === undefined || record === undefined) return null
  const published = toPublishedTarget(daemonSet)
  const { uid: releaseUid } = release.metadata
  const nodes = release.spec.tranche?.nodes
  return nodeOutlook(
    {
      published,
      releaseUid,
      record,
      nodes,
      formerRevisions: release.spec.tranche?.formerRevisions,
      begunAt: begunAt(release),
      fleet,
      podsSeen: record.watermark,
      sent: new Set(),
      checks: new Map(),
      confirmations: new Map(),
      isBad: false,
      monotonicMs,
    },
    name,
  )
}

function byOutlook(outline: Outline, node: NodeView, outlook: NodeOutlook): NodeAnswer {
  const { name } = node
  switch (outlook.kind) {
    case 'excluded':
      return {
        rule: 'Excluded',
        answer: `${name} is not updated: nodes.exclude of the policy matches it, so the release leaves it on ${keptRevision(outline, node)}${keptText(node)}`,
        next: `the labels of the node or the policy change${badRevisionOn(outline, node) === undefined ? '' : ', or its pod is deleted'}`,
      }
    case 'laterStep':
      return laterStep(outline, name, outlook.step)
    case 'notReady':
      return outOfReach(outline, node)
    case 'permitted':
      return outlook.isNext ? permittedNow(outline, name) : permittedLater(outline, name)
    case 'laterBatch':
      return laterBatch(outline, name, outlook)
    case 'spread':
      return {
        rule: 'Spread',
        answer: `${name} waits: with ${outlook.key}=${outlook.value === '' ? '(none)' : outlook.value} ${limitText(outlook)}`,
        next: 'one of them has an available pod again',
        facts: [downFact(outlook)],
      }
    case 'budget':
      return {
        rule: 'Budget',
        answer: `${name} is in this batch and waits: maxUnavailable (${outlook.limit}) is used up: ${countedText(outline, outlook.down)}`,
        next: budgetNext(outline, outlook.limit),
        facts: [aheadFact(outlook.ahead), downFact({ ...outlook, down: downOf(outline, outlook.down) })],
      }
    case 'order':
      return {
        rule: 'Order',
        answer: `${name} is in this batch and waits: ${outlook.ahead} ${outlook.ahead === 1 ? 'node comes' : 'nodes come'} before it`,
        next: 'the nodes before it are updated',
        facts: [aheadFact(outlook.ahead), downFact(outlook)],
      }
    case 'next':
      return { rule: 'Next', answer: `${name} is about to be updated`, next: 'an executor permits and deletes its pod' }
    case 'notDesired':
    case 'taken':
      return { rule: 'Pending', answer: `${name} has changed since it was read`, next: 'run the command again' }
    default:
      return outlook satisfies never
  }
}

function laterStep(outline: Outline, name: string, step: number): NodeAnswer {
  return { rule: 'Step', answer: `${name} is not updated yet: ${laterStepText(outline, step)}`, next: nextText(outline) }
}

/** A step without a selector has an empty one in the rules of the release. */
function laterStepText({ rules }: Outline, step: number): string {
  if (!Number.isFinite(step)) return 'no step selects it, so it follows after the last step'
  const { matchLabels = {}, matchExpressions = [] } = rules?.steps?.[step] ?? {}
  return Object.keys(matchLabels).length + matchExpressions.length === 0
    ? `the steps before step ${step + 1} select other nodes`
    : `step ${step + 1} is the first whose selector matches it`
}

function laterBatch(outline: Outline, name: string, { ahead, size }: NodeOutlook & { readonly kind: 'laterBatch' }): NodeAnswer {
  const sizes = stepSizes(outline)
  const at = sizes.findIndex((nodes) => nodes >= size)
  const when = at === -1 ? 'it follows after the last step' : `step ${at + 1} of ${sizes.length} updates it`
  const index = outline.facts.rollout.status?.canaryStatus?.currentStepIndex ?? 0
  const answer = `${name} is not updated yet: step ${index} ends at ${sizes[index - 1] ?? 0} nodes, and ${when} at the current number of nodes`
  const isWaiting = outcomeIn(outline) === 'Waiting' || personWaitOf(outline.facts.rollout, outline.release) !== null
  const next = isWaiting ? nextText(outline) : at === -1 ? 'the last step ends' : `step ${at + 1} begins`
  return { rule: 'Partition', answer, next, facts: [aheadFact(ahead)] }
}

function limitText({ limit, down }: { readonly limit: number; readonly down: readonly string[] }): string {
  return `${limit} may be down at a time, and ${firstNodes(down)} ${down.length === 1 ? 'is' : 'are'}`
}

function aheadFact(ahead: number): Fact {
  return { name: 'before it', value: ahead === 1 ? '1 node' : `${ahead} nodes` }
}

function downFact({ limit, down }: { readonly limit: number; readonly down: readonly string[] }): Fact {
  return { name: 'down', value: `${down.length} of ${limit}${down.length === 0 ? '' : `: ${firstNodes(down)}`}` }
}

function factsOf(outline: Outline, node: NodeView, report: NodeReport): readonly Fact[] {
  const { rollout } = outline.facts
  const { currentStepIndex, currentStepState } = rollout.status?.canaryStatus ?? {}
  const isGoing = rollout.status?.phase === 'Progressing'
  const said: readonly (readonly [string, string | undefined])[] = [
    ['state', report.state],
    ['revision', report.revision === undefined ? 'none' : `${report.revision}${report.role === 'none' ? '' : ` (${report.role})`}`],
    ['released', outline.canary === '' ? undefined : outline.canary],
    ['pod', report.pod],
    ['since', report.since],
    ['must be available by', report.failsAt],
    ['why', report.why],
    ['budget', report.budget?.message],
    ['restarts', report.restarts?.toString()],
    ['batch', report.batch?.toString()],
    ['zone', report.zone === '' ? undefined : report.zone],
    ['node', conditionText(node)],
    ['paused', pauseText(rollout)],
    ['step', isGoing ? `${currentStepIndex} of ${stepsOf(rollout).length} (${currentStepState})` : undefined],
  ]
  return said.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
}

function conditionText({ ready, maintenance, isDeleted }: NodeView): string {
  if (isDeleted === true) return 'deleted'
  return [ready ? 'Ready' : 'NotReady', ...(maintenance === undefined ? [] : [maintenance])].join(', ')
}
