import { type ActionType, type BudgetUse, keptCopyReasons, type RolloutReport } from '@tranche/api-schema'
import { progressBar, stepMarks } from '../progress-bar.ts'
import type { StyledSpan } from '../styled-line.ts'
import type { Drawing } from './drawing.ts'
import type { ReleasePicture } from '@tranche/release-client'
import { releaseTree } from './release-tree.ts'
import { remainingTime } from './remaining-time.ts'
import {
  backText,
  budgetCounts,
  changedConfigText,
  counted,
  downCount,
  firstNames,
  forSince,
  goesBackAtOnce,
  isOurs,
  messageBesideBack,
  nodeCountsText,
  outcomeStyles,
  stateWord,
  versionsOf,
} from './report-words.ts'
import { treeLines } from './tree-lines.ts'
import { wrapText } from '../wrap-text.ts'

const LABEL_WIDTH = 8
const WIDEST_BAR = 100
const WIDEST_TEXT = 120

/**
 * Formats a Rollout: outcome, progress, wait, possible actions, and the tree of revisions, batches, zones and unhealthy nodes. Pure.
 */
export function releaseView(picture: ReleasePicture, drawing: Drawing, wide: boolean): readonly string[] {
  const { report } = picture
  if (!isOurs(report)) return [nameLine(report, drawing), ...labelled('status', report.message, drawing)]
  return [
    headline(picture, drawing),
    ...barLines(report, drawing),
    ...backLines(report, drawing),
    ...configLines(picture, drawing),
    ...stepLines(report, drawing),
    ...labelled('nodes', nodeCountsText(report), drawing),
    ...budgetLines(report, drawing),
    ...waitLines(report, drawing),
    ...leftLines(report, drawing),
    ...blockedLines(report, drawing),
    ...policyLines(report, drawing),
    ...pinnedLines(report, drawing),
    ...needLines(report, drawing),
    ...etaLines(picture, drawing),
    ...treeLines(releaseTree(picture, { nowMs: drawing.nowMs, wide }), drawing),
  ]
}

function headline({ report, revisions }: ReleasePicture, drawing: Drawing): string {
  const from = revisions.find(({ role }) => role === 'stable')
  const to = versionsOf(report.images)
  const before = from === undefined || from.revision === report.canaryRevision ? to : versionsOf(from.images)
  const isOver = report.phase === 'Healthy' && report.outcome !== 'Blocked'
  return nameLine(report, drawing, `   ${before === to || isOver ? to : `${before} → ${to}`}`, [
    'dim',
    report.reason === '' ? `   ${report.phase}` : `   ${report.phase}, ${report.reason}`,
  ])
}

function nameLine(report: RolloutReport, drawing: Drawing, ...more: readonly StyledSpan[]): string {
  const { namespace, name, outcome } = report
  return drawing.line(['bold', `${namespace}/${name}`], '   ', [outcomeStyles[outcome], stateWord(report)], ...more)
}

function barLines({ nodes, steps, phase, step, rollbackFrom }: RolloutReport, drawing: Drawing): readonly string[] {
  if (nodes.desired === 0) return [drawing.line(['dim', 'no eligible nodes'])]
  // Nodes that are not updated are available too: the bar does not count them.
  const isThrough = nodes.updated >= nodes.desired
  const counts = isThrough ? 'available' : `${rollbackFrom === undefined ? 'updated' : 'back'} and available`
  const label = ` ${nodes.updatedAvailable}/${nodes.desired} ${counts}`
  const width = Math.max(10, Math.min(drawing.width, WIDEST_BAR) - label.length)
  const { glyphs } = drawing
  const bar = progressBar(
    { desired: nodes.desired, updated: nodes.updatedAvailable, updating: nodes.updated - nodes.updatedAvailable },
    width,
    glyphs,
  )
  const marks = steps.map(({ replicas, nodes: size }) => ({ label: replicas, nodes: size }))
  const under = phase === 'Progressing' ? stepMarks(marks, step?.index ?? null, { width, desired: nodes.desired, glyphs }) : []
  return [drawing.line(...bar, ['bold', label]), ...(under.length === 0 ? [] : [drawing.line(...under)])]
}

function backLines(report: RolloutReport, drawing: Drawing): readonly string[] {
  const text = backText(report)
  return text === '' ? [] : labelled('back', text, drawing, 'yellow')
}

/** Config that the released revision changes: often nothing else says why there is a release. */
function configLines({ report, revisions }: ReleasePicture, drawing: Drawing): readonly string[] {
  const canary = report.phase === 'Healthy' ? undefined : revisions.find(({ revision }) => revision === report.canaryRevision)
  const text = canary === undefined ? '' : changedConfigText(canary)
  return text === '' ? [] : labelled('config', text, drawing)
}

function stepLines(report: RolloutReport, drawing: Drawing): readonly string[] {
  const { step, phase } = report
  if (step === undefined || phase === 'Healthy' || phase === 'Initial' || goesBackAtOnce(report)) return []
  return labelled('step', `${step.index} of ${step.count}, ${step.state}${forSince(step.since, drawing.nowMs)}`, drawing)
}

/** Label of the message for outcomes other than a wait. */
const messageLabels: Partial<Readonly<Record<RolloutReport['outcome'], string>>> = {
  Failed: 'failed',
  Blocked: 'blocked',
  RolledBack: 'status',
}

const budgetUses: Readonly<Record<BudgetUse, string>> = {
  InFlight: 'being updated',
  Updated: 'whose new pod is not available',
  Old: 'whose old pod is not available',
  Excluded: 'excluded by the policy',
  Away: 'NotReady or in maintenance',
  Dead: 'dead',
}

/** Nodes that use up the budget, unless all of them are being updated. */
function budgetLines(report: RolloutReport, drawing: Drawing): readonly string[] {
  const { budget, outcome } = report
  const { limit = 0, users = [] } = budget ?? {}
  if (outcome !== 'Running' || downCount(budgetCounts(report)) < limit || users.every(({ use }) => use === 'InFlight')) return []
  const texts = users.map(({ use, count, nodes: names }) => `${count} ${budgetUses[use]} (${firstNames(names, count)})`)
  return labelled('budget', `used up: ${texts.join(', ')}`, drawing)
}

/** Nodes that the release leaves for now: one line for each cause. */
function leftLines({ leftNodes = [], phase }: RolloutReport, drawing: Drawing): readonly string[] {
  if (phase === 'Disabled') return []
  return leftNodes.flatMap(({ message, next }, at) => labelled(at === 0 ? 'left' : '', `${message}: ${next}`, drawing))
}

/** Message of the status. Once only nodes are left, in short form: the next lines have the causes. */
function messageOf(report: RolloutReport): string {
  const { phase, outcome, leftNodes = [], conditions } = report
  if (phase !== 'Healthy' || (outcome !== 'Done' && outcome !== 'Running') || leftNodes.length === 0) return messageBesideBack(report)
  const count = leftNodes.reduce((sum, group) => sum + group.count, 0)
  const isKept = conditions.some(({ type, status, reason }) => type === 'StrategyRestored' && status === 'False' && reason === 'NodesLeft')
  const until = isKept ? '; the update strategy is restored once they are updated and available' : ''
  return `${counted(count, 'node')} left behind${until}`
}

/** Message of the pending decision, else of the status. */
function waitLines(report: RolloutReport, drawing: Drawing): readonly string[] {
  const { outcome, need, failure } = report
  const message = messageOf(report)
  if (outcome === 'Done' || (outcome === 'RolledBack' && need !== undefined)) return overLines(message, need?.message, drawing)
  const text = need?.message ?? message
  // Of a release that is over, the lines about left nodes say which accepted failures last.
  const isSettled = outcome === 'RolledBack' && failure?.reason === 'Accepted'
  const isShown = isSettled || failure?.reason === (need?.reason ?? report.reason)
  const about = failure === undefined || isShown ? [] : labelled('failure', failure.message, drawing, 'red')
  return [...(text === '' ? [] : labelled(messageLabels[outcome] ?? 'waits', text, drawing)), ...about]
}

/** Of a release that is over, the decision is about what it left. */
function overLines(message: string, need: string | undefined, drawing: Drawing): readonly string[] {
  return [...(message === '' ? [] : labelled('status', message, drawing)), ...(need === undefined ? [] : labelled('waits', need, drawing))]
}

/** Why the policy is not in force, in full or in part, unless the release waits for that and says so. */
function policyLines({ namespace, name, policyState, need, message }: RolloutReport, drawing: Drawing): readonly string[] {
  const text = policyState?.message
  if (text === undefined || message.startsWith(text) || need?.message.startsWith(text) === true) return []
  const lines = labelled('policy', text, drawing, 'yellow')
  if (lines.length <= MOST_POLICY_LINES) return lines
  const rest = `tranche explain ${name} -n ${namespace} shows all of it`
  return [...lines.slice(0, MOST_POLICY_LINES - 1), drawing.line(' '.repeat(LABEL_WIDTH), ['dim', rest])]
}

/** Lines of the policy at most: below it follow the decision and the tree. */
const MOST_POLICY_LINES = 6

const MOST_PINNED = 3

/** Copies that pods of the present template read. */
function pinnedLines({ pinnedConfig = [], conditions }: RolloutReport, drawing: Drawing): readonly string[] {
  const named = pinnedConfig.slice(0, MOST_PINNED).map(({ kind, name, copy }) => `${kind} ${name} as ${copy}`)
  const more = pinnedConfig.length > MOST_PINNED ? ` and ${pinnedConfig.length - MOST_PINNED} more; tranche explain shows them` : ''
  return [...(named.length === 0 ? [] : labelled('pinned', `${named.join(', ')}${more}`, drawing)), ...keptCopiesLines(conditions, drawing)]
}

/** The objects in the cluster may differ from what pods read, though nothing else looks changed. */
function keptCopiesLines(conditions: RolloutReport['conditions'], drawing: Drawing): readonly string[] {
  const found = conditions.find(({ type, reason }) => type === 'ConfigUnversioned' && keptCopyReasons.includes(reason))
  return found === undefined ? [] : labelled('config', found.message, drawing, 'yellow')
}

const MOST_BLOCKED_NODES = 3

/** Nodes that keep their old pod while others proceed. */
function blockedLines({ blockedNodes = [] }: RolloutReport, drawing: Drawing): readonly string[] {
  const first = blockedNodes.slice(0, MOST_BLOCKED_NODES).map(({ node, message }) => `${node}: ${message}`)
  const more =
    blockedNodes.length > MOST_BLOCKED_NODES ? [`and ${blockedNodes.length - MOST_BLOCKED_NODES} more; tranche explain shows them`] : []
  return [...first, ...more].flatMap((text, at) => labelled(at === 0 ? 'blocked' : '', text, drawing))
}

function needLines({ need, namespace, name, step }: RolloutReport, drawing: Drawing): readonly string[] {
  if (need === undefined) return []
  const { actions, reason, since } = need
  const choice = actions.length < 2 ? actions.join('') : `${actions.slice(0, -1).join(', ')} or ${actions.at(-1)}`
  const text = `a person${forSince(since, drawing.nowMs)} (${reason})${choice === '' ? '' : `: ${choice}`}`
  const command = actions[0] === undefined ? [] : [commandOf(actions[0], { namespace, name, step: step?.index })]
  return [...labelled('needs', text, drawing, 'yellow'), ...command.map((line) => drawing.line(`${' '.repeat(LABEL_WIDTH)}${line}`))]
}

/** @returns the command for an action: `tranche approve node-agent -n demo` */
function commandOf(
  action: ActionType,
  at: { readonly namespace: string; readonly name: string; readonly step: number | undefined },
): string {
  const target = action === 'jump' ? ` --step ${(at.step ?? 1) + 1}` : ''
  return `tranche ${action} ${at.name} -n ${at.namespace}${target}`
}

function etaLines(picture: ReleasePicture, drawing: Drawing): readonly string[] {
  const text = remainingTime(picture, drawing.nowMs)
  return text === null ? [] : labelled('eta', text, drawing)
}

function labelled(label: string, text: string, drawing: Drawing, style: 'red' | 'yellow' | null = null): readonly string[] {
  const rows = wrapText(text, Math.min(drawing.width, WIDEST_TEXT) - LABEL_WIDTH)
  return rows.map((row, at) => {
    const words: StyledSpan = style === null ? row : [style, row]
    return drawing.line(['dim', (at === 0 ? label : '').padEnd(LABEL_WIDTH)], words)
  })
}
