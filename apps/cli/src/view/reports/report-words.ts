import type { NodeReport, Outcome, RevisionReport, RolloutReport, RolloutSummary } from '@tranche/api-schema'
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

/** @returns `Not managed`, `Paused`, `Disabled`, `Rolling back`, `Rolled back`, or the outcome */
export function stateWord(rollout: RolloutSummary): string {
  const { outcome, paused, disabled, rollbackFrom } = rollout
  if (!isOurs(rollout)) return 'Not managed'
  if (disabled) return 'Disabled'
  if (paused && outcome === 'Waiting') return 'Paused'
  if (rollbackFrom !== undefined && outcome === 'Running') return 'Rolling back'
  if (outcome === 'RolledBack') return 'Rolled back'
  return paused && (outcome === 'Failed' || outcome === 'Blocked') ? `${outcome}, paused` : outcome
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
  if (waitingFor === undefined) return message
  return waitingFor.since === undefined ? waitingFor.message : `${waitingFor.message} (since ${waitingFor.since})`
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

/** @returns the counts of nodes as one sentence without a stop */
export function nodeCountsText(report: RolloutReport): string {
  const { nodes, rollbackFrom, zones } = report
  const excluded = Math.min(
    nodes.skipped,
    zones.reduce((sum, { states }) => sum + (states.excluded ?? 0), 0),
  )
  const away = nodes.skipped - excluded
  const parts = [
    `${nodes.updated} of ${nodes.desired} ${rollbackFrom === undefined ? 'updated' : 'back'}`,
    ...(nodes.updated === nodes.updatedAvailable ? [] : [`${nodes.updatedAvailable} of them available`]),
    downText(report),
    ...(nodes.failed === 0 ? [] : [`${nodes.failed} failed`]),
    ...(nodes.leaked === 0 ? [] : [`${nodes.leaked} leaked`]),
    ...(away === 0 ? [] : [`${away} skipped until ${away === 1 ? 'it is' : 'they are'} back`]),
    ...(excluded === 0 ? [] : [`${excluded} excluded by the policy`]),
  ]
  return parts.join(', ')
}

/** Dead nodes cost no budget while there are few. More may be down than allowed, from other causes: then the release takes no more down. */
function downText({ nodes: { unavailable }, maxUnavailable: limit, budget, outcome }: RolloutReport): string {
  if (limit === undefined) return `${unavailable} down`
  const { exempt = 0, dead: lost = 0 } = budget ?? {}
  const dead = lost === 0 ? '' : `; ${deadText(lost, unavailable)} ${exempt === 0 ? 'count' : 'not count'}`
  const over = outcome === 'Running' && unavailable - exempt > limit ? ': no more nodes are taken down' : ''
  return `${unavailable} down (maxUnavailable ${limit}${dead}${over})`
}

function deadText(dead: number, unavailable: number): string {
  const which = dead < unavailable ? `${dead} of the ${unavailable}` : dead === 1 ? 'it' : 'all'
  return dead === 1 ? `${which} is dead and does` : `${which} are dead and do`
}
