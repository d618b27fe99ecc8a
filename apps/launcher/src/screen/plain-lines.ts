import { printable } from '@tranche/cli'
import { durationText } from '@tranche/clock'
import { countStates, type NodeSnapshot, type ReleaseSnapshot } from './release-snapshot.ts'

/** Share of the nodes per progress line: a line for each of 5,000 nodes would hide the rest. */
const PROGRESS_SHARE = 1 / 20

/**
 * Formats the changes between two snapshots, for output that is not a terminal.
 *
 * @param printed snapshot of the last printed lines; null at the start
 * @returns one line per change; empty if nothing relevant has changed
 */
export function plainLines(printed: ReleaseSnapshot | null, snapshot: ReleaseSnapshot): readonly string[] {
  const moves = snapshot.isObserved ? movedLines(printed, snapshot) : []
  const failing = newlyFailing(printed, snapshot).map((node) => `failing on ${node.name}: ${node.reason ?? 'not running'}`)
  return [...moves, ...failing].map((line) => plainLine(snapshot, line))
}

function movedLines(printed: ReleaseSnapshot | null, snapshot: ReleaseSnapshot): readonly string[] {
  return [
    ...(positionText(snapshot) === (printed && positionText(printed)) ? [] : [positionText(snapshot)]),
    ...(hasMoved(printed, snapshot) ? [progressText(snapshot)] : []),
  ]
}

/** @returns `text` after the name of the DaemonSet and the duration of its release */
export function plainLine(snapshot: ReleaseSnapshot, text: string): string {
  const elapsed = snapshot.startedAtMs === null ? '' : ` ${durationText((snapshot.endedAtMs ?? snapshot.nowMs) - snapshot.startedAtMs)}`
  return printable(`${snapshot.daemonSet}${elapsed}: ${text}`)
}

function positionText(snapshot: ReleaseSnapshot): string {
  const { phase, step, rollout, toVersion, paused } = snapshot
  const state = comesUp(snapshot) ? 'coming up' : (phase ?? 'not reconciled yet')
  const where = `${rollout === null ? 'no Rollout' : state}, version ${toVersion}`
  if (phase !== 'Progressing') return where
  return `${where}${step === null ? '' : `, step ${step.index} of ${step.count}, ${step.state}`}${paused ? ', paused' : ''}`
}

/** Whether the first pods are still starting: the phase Healthy only means that no release runs. */
function comesUp(snapshot: ReleaseSnapshot): boolean {
  return snapshot.phase === 'Healthy' && snapshot.startedAtMs === null && nodesDone(snapshot) < snapshot.nodes.length
}

function hasMoved(printed: ReleaseSnapshot | null, snapshot: ReleaseSnapshot): boolean {
  const desired = snapshot.nodes.length
  if (printed === null || printed.nodes.length !== desired || isReleasing(printed) !== isReleasing(snapshot)) return true
  const moved = Math.abs(nodesDone(snapshot) - nodesDone(printed))
  const complete = moved > 0 && nodesDone(snapshot) === desired
  return complete || (moved > 0 && (moved >= desired * PROGRESS_SHARE || positionText(printed) !== positionText(snapshot)))
}

/** True also without a Rollout, while the DaemonSet controller updates. */
function isReleasing({ phase, rollout }: ReleaseSnapshot): boolean {
  return phase === 'Progressing' || rollout === null
}

/** Number of updated nodes during a release, else of available nodes. */
function nodesDone(snapshot: ReleaseSnapshot): number {
  const { updated, old } = countStates(snapshot.nodes)
  return isReleasing(snapshot) ? updated : updated + old
}

function progressText(snapshot: ReleaseSnapshot): string {
  const desired = snapshot.nodes.length
  if (!isReleasing(snapshot)) return `${nodesDone(snapshot)} of ${desired} nodes available`
  const { updated, old } = countStates(snapshot.nodes)
  return `${updated} of ${desired} nodes updated, ${desired - updated - old} down`
}

function newlyFailing(printed: ReleaseSnapshot | null, snapshot: ReleaseSnapshot): NodeSnapshot[] {
  const known = new Set(printed?.nodes.filter((node) => node.state === 'failing').map((node) => `${node.name} ${node.reason}`))
  return snapshot.nodes.filter((node) => node.state === 'failing' && !known.has(`${node.name} ${node.reason}`))
}
