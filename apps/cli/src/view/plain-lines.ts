import { countStates, type NodeSnapshot, type ReleaseSnapshot } from './release-snapshot.ts'
import { durationText } from './duration-text.ts'
import { printable } from './styled-line.ts'

/** Progress is told at every twentieth of the nodes; a line for each of 5,000 nodes would hide the rest. */
const PROGRESS_SHARE = 1 / 20

/**
 * Says what has changed between two snapshots, for output that is not a terminal.
 *
 * @param told the snapshot that the last lines spoke of; null at the beginning
 * @returns one line for each change; none when nothing that matters has changed
 */
export function plainLines(told: ReleaseSnapshot | null, snapshot: ReleaseSnapshot): readonly string[] {
  const lines = [
    ...(positionText(snapshot) === (told && positionText(told)) ? [] : [positionText(snapshot)]),
    ...(hasMoved(told, snapshot) ? [progressText(snapshot)] : []),
    ...newlyFailing(told, snapshot).map((node) => `failing on ${node.name}: ${node.reason ?? 'not running'}`),
    ...waitingLine(told, snapshot),
  ]
  const elapsed = snapshot.startedAtMs === null ? '' : ` ${durationText((snapshot.endedAtMs ?? snapshot.nowMs) - snapshot.startedAtMs)}`
  return lines.map((line) => printable(`${snapshot.daemonSet}${elapsed}: ${line}`))
}

function positionText({ phase, step, rollout, toVersion }: ReleaseSnapshot): string {
  const where = rollout === null ? 'no Rollout' : (phase ?? 'not looked at yet')
  return step === null || phase !== 'Progressing'
    ? `${where}, version ${toVersion}`
    : `${where}, version ${toVersion}, step ${step.index} of ${step.count}, ${step.state}`
}

function hasMoved(told: ReleaseSnapshot | null, snapshot: ReleaseSnapshot): boolean {
  const desired = snapshot.nodes.length
  if (told === null || told.nodes.length !== desired) return true
  const moved = Math.abs(countStates(snapshot.nodes).updated - countStates(told.nodes).updated)
  const complete = moved > 0 && countStates(snapshot.nodes).updated === desired
  return complete || (moved > 0 && (moved >= desired * PROGRESS_SHARE || positionText(told) !== positionText(snapshot)))
}

function progressText(snapshot: ReleaseSnapshot): string {
  const counts = countStates(snapshot.nodes)
  const down = snapshot.nodes.length - counts.updated - counts.old
  return `${counts.updated} of ${snapshot.nodes.length} nodes updated, ${down} down`
}

function newlyFailing(told: ReleaseSnapshot | null, snapshot: ReleaseSnapshot): NodeSnapshot[] {
  const known = new Set(told?.nodes.filter((node) => node.state === 'failing').map((node) => `${node.name} ${node.reason}`))
  return snapshot.nodes.filter((node) => node.state === 'failing' && !known.has(`${node.name} ${node.reason}`))
}

/** What it waits for changes with every node; only a wait that has lasted is told. */
function waitingLine(told: ReleaseSnapshot | null, snapshot: ReleaseSnapshot): string[] {
  const { waiting, step } = snapshot
  if (waiting === null || waiting.message === told?.waiting?.message) return []
  return step?.state === 'StepPaused' || snapshot.phase !== 'Progressing' ? [`waiting: ${waiting.message}`] : []
}
