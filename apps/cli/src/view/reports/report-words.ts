import {
  type LeftCause,
  type LeftNodes,
  type NodeReport,
  type Outcome,
  type RevisionReport,
  type RolloutReport,
  type RolloutSummary,
  waitText,
} from '@tranche/api-schema'
import { durationText } from '@tranche/clock'
import type { AdviceRule } from '@tranche/validation'
import { parseTime } from '@tranche/kube-types'
import { versionOf } from '../image-version.ts'
import type { Style } from '../styled-line.ts'

/** Colour of each outcome. */
export const outcomeStyles: Readonly<Record<Outcome, Style>> = {
  Done: 'green',
  Failed: 'red',
  RolledBack: 'yellow',
  Blocked: 'red',
  Waiting: 'yellow',
  Running: 'cyan',
}

/** Colour of each node state. */
export const nodeStyles: Readonly<Record<NodeReport['state'], Style>> = {
  updated: 'green',
  updating: 'cyan',
  old: 'dim',
  down: 'yellow',
  failing: 'red',
  notReady: 'yellow',
  excluded: 'dim',
}

/** Text of each node state. */
export const nodeWords: Readonly<Record<NodeReport['state'], string>> = {
  updated: 'updated',
  updating: 'updating',
  old: 'old',
  down: 'old and down',
  failing: 'failing',
  notReady: 'NotReady',
  excluded: 'excluded',
}

const otherWorkload: AdviceRule = 'OtherWorkload'

/** @returns whether Tranche handles a Rollout, rather than another controller */
export function isOurs({ reason }: Pick<RolloutSummary, 'reason'>): boolean {
  return reason !== otherWorkload
}

/** @returns `Not managed`, `Paused`, `Disabled`, `Disabling`, `Terminating`, `Rolling back`, `Rolled back`, or the outcome */
export function stateWord(rollout: RolloutSummary): string {
  const { outcome, paused, disabled, phase, rollbackFrom } = rollout
  if (!isOurs(rollout)) return 'Not managed'
  if (phase === 'Terminating' && outcome === 'Running') return 'Terminating'
  if (disabled && phase !== 'Disabling' && phase !== 'Terminating') return 'Disabled'
  if (disabled && outcome === 'Running') return 'Disabling'
  if (paused && outcome === 'Waiting') return 'Paused'
  if (rollbackFrom !== undefined && outcome === 'Running') return 'Rolling back'
  if (outcome === 'RolledBack') return 'Rolled back'
  // `tranche.dev/on-delete` overrides a pause.
  const isEnding = phase === 'Disabling' || phase === 'Terminating'
  return paused && !isEnding && (outcome === 'Failed' || outcome === 'Blocked') ? `${outcome}, paused` : outcome
}

/** @returns the source and target revision of a rollback; empty for other releases */
export function backText({ rollbackFrom, canaryRevision }: RolloutSummary): string {
  return rollbackFrom === undefined ? '' : `from revision ${rollbackFrom} to ${canaryRevision ?? 'the one before'}`
}

/** @returns whether a release rolls back without pauses: its steps are done, so the current step is meaningless. Summaries have no steps. */
export function goesBackAtOnce({ rollbackFrom, steps = [] }: RolloutSummary & Partial<Pick<RolloutReport, 'steps'>>): boolean {
  return rollbackFrom !== undefined && steps.every(({ state }) => state === 'done')
}

/** @returns what a Rollout waits for, without step and direction; its message if it waits for nothing */
export function waitingText({ waitingFor, message }: RolloutSummary): string {
  return waitingFor === undefined ? message : waitText(waitingFor)
}

/** @returns the message of a Rollout, without the text of {@link backText} */
export function messageBesideBack(rollout: RolloutSummary): string {
  return backText(rollout) === '' ? rollout.message : waitingText(rollout)
}

/** @returns `2/3`, or nothing before the first release and once it is over */
export function stepFraction({ step, phase }: RolloutSummary): string {
  return step === undefined || phase === 'Healthy' || phase === 'Initial' ? '' : `${step.index}/${step.count}`
}

/** @returns the tags of the images, `v2`; for several images `agent:v2, helper:v1` */
export function versionsOf(images: readonly string[]): string {
  if (images.length <= 1) return versionOf(images[0]) ?? ''
  return images.map(shortImage).join(', ')
}

/** @returns an image without its registry and folders: `agent:v2` */
export function shortImage(image: string): string {
  return image.slice(image.lastIndexOf('/') + 1)
}

/** @returns ` for 3m05s`; empty if the start is unknown */
export function forSince(since: string | undefined, nowMs: number): string {
  const sinceMs = parseTime(since)
  return sinceMs === null ? '' : ` for ${durationText(nowMs - sinceMs)}`
}

/** @returns `3m05s`, or `-` if unknown */
export function ageText(since: string | undefined, nowMs: number): string {
  const sinceMs = parseTime(since)
  return sinceMs === null ? '-' : durationText(nowMs - sinceMs)
}

/** @returns `1 node`, `2 nodes` */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** @returns `changed ConfigMap agent`; empty if the revision has the same config as the one before, as far as known */
export function changedConfigText({ changedConfig = [] }: RevisionReport): string {
  return changedConfig.length === 0 ? '' : `changed ${changedConfig.join(', ')}`
}

const MOST_NAMES = 3

/** @param count number of all names, of which `names` has the first @returns `a, b, c, +2 more` */
export function firstNames(names: readonly string[], count: number = names.length): string {
  const shown = names.slice(0, MOST_NAMES)
  return [...shown, ...(count > shown.length ? [`+${count - shown.length} more`] : [])].join(', ')
}

/** @returns number of nodes that use the budget: those without an available pod, minus the dead ones that do not count */
export function downCount({ unavailable, exempt = 0 }: RolloutSummary['nodes']): number {
  return Math.max(0, unavailable - exempt)
}

/** @returns `2 down, 3 dead`, or `5 down, 3 of them dead` if dead nodes count */
export function downAndDead(nodes: RolloutSummary['nodes']): string {
  const { dead = 0, exempt = 0 } = nodes
  const down = `${downCount(nodes)} down`
  if (dead === 0) return down
  return exempt > 0 ? `${down}, ${dead} dead` : `${down}, ${deadAmong(nodes)}`
}

function deadAmong({ unavailable, dead = 0 }: RolloutSummary['nodes']): string {
  return dead >= unavailable ? 'all of them dead' : `${dead} of them dead`
}

/** @returns the counts of nodes as one sentence without a stop */
export function nodeCountsText(report: RolloutReport): string {
  const { nodes, rollbackFrom, leftNodes } = report
  const parts = [
    `${nodes.updated} of ${nodes.desired} ${rollbackFrom === undefined ? 'updated' : 'back'}`,
    ...(nodes.updated === nodes.updatedAvailable ? [] : [`${nodes.updatedAvailable} of them available`]),
    downText(report),
    ...(nodes.failed === 0 ? [] : [`${nodes.failed} failed`]),
    ...(nodes.leaked === 0 ? [] : [`${nodes.leaked} leaked`]),
    ...(leftNodes === undefined ? skippedTexts(report) : leftTexts(leftNodes)),
  ]
  return parts.join(', ')
}

/** Counts by cause; dead nodes have a count of their own already, as failed ones and those without an available pod have. */
function leftTexts(groups: readonly LeftNodes[]): readonly string[] {
  const words: Partial<Readonly<Record<LeftCause, string>>> = {
    Excluded: 'excluded by the policy',
    Maintenance: 'in maintenance',
    Blocked: 'kept on the old pod by a check',
    Due: 'back with the old pod',
  }
  const others = groups.filter(({ cause }) => cause === 'NotReady' || cause === 'Lost')
  const away = others.reduce((sum, { count }) => sum + count, 0)
  return [
    ...(away === 0 ? [] : [`${away} skipped until ${away === 1 ? 'it is' : 'they are'} back`]),
    ...groups.flatMap(({ cause, count }) => (words[cause] === undefined ? [] : [`${count} ${words[cause]}`])),
  ]
}

/** For a report of an older version, which has no causes. */
function skippedTexts({ nodes, zones }: RolloutReport): readonly string[] {
  const excluded = Math.min(
    nodes.skipped,
    zones.reduce((sum, { states }) => sum + (states.excluded ?? 0), 0),
  )
  const away = nodes.skipped - excluded
  return [
    ...(away === 0 ? [] : [`${away} skipped until ${away === 1 ? 'it is' : 'they are'} back`]),
    ...(excluded === 0 ? [] : [`${excluded} excluded by the policy`]),
  ]
}

/** More may be down than allowed, from causes other than the release: then it takes no more down. */
function downText(report: RolloutReport): string {
  const { maxUnavailable: limit, budget, outcome } = report
  const nodes = budgetCounts(report)
  if (limit === undefined) return downAndDead(nodes)
  const over = outcome === 'Running' && downCount(nodes) > limit ? ': no more nodes are taken down' : ''
  const down = `${downCount(nodes)} down (maxUnavailable ${limit}${over})`
  const { dead = 0, exempt = 0 } = nodes
  if (dead === 0) return down
  const most = budget?.exemptLimit
  if (exempt > 0) return `${down}, ${dead} dead (${most === undefined ? 'cost no budget' : `at most ${most} cost no budget`})`
  return `${down}, ${deadAmong(nodes)} (${most === undefined ? 'all count' : `more than ${most}, so all count`})`
}

/** Counts of nodes; those of dead nodes from the budget, where older versions have them, too. */
export function budgetCounts({ nodes, budget }: RolloutReport): RolloutSummary['nodes'] {
  return budget === undefined ? nodes : { ...nodes, dead: budget.dead, exempt: budget.exempt }
}
