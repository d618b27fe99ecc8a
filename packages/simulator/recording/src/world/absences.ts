import type { RecordedWrite } from '../record/recorded-write.ts'
import type { DaemonSetStory } from './daemon-set-story.ts'
import type { ClockSet } from './node-locks.ts'
import type { NodeStory, PodStory } from './node-story.ts'
import type { Deletion } from './world.ts'

/** Times without an available agent on nodes after our deletions. */
export interface Absences {
  /** Called for each of our deletions, before it is applied. @param isCounted whether the policy certainly asked to count it */
  onDeletion(deletion: Deletion, isCounted: boolean): void
  /** Called for each write, before it is applied. */
  onWrite(write: RecordedWrite): void
  /** Milliseconds in the day before `atMs` for which the agent was certainly away, and which our processes must know. */
  surely(story: DaemonSetStory, node: string, atMs: number): number
  /** Most milliseconds in the day before `atMs` for which our processes may count the agent as away. */
  possibly(story: DaemonSetStory, node: string, atMs: number): number
}

interface Absence {
  readonly story: DaemonSetStory
  readonly node: string
  /** Pod that we deleted. */
  readonly podUid: string
  readonly permittedMs: number
  readonly deletedMs: number
  readonly isCounted: boolean
  /** First moment with an available pod, or at which the node was not desired; null before that. */
  backMs: number | null
  /** Largest `minReadySeconds` that our processes may have counted with since, in milliseconds. */
  mostNeededMs: number
  /** Since when a pod has been available by that; null while none is. */
  upSinceMs: number | null
  /** First moment of an availability that lasted, or of the end of the node or DaemonSet; null before that. */
  steadyMs: number | null
  /** Whether the node or the DaemonSet was deleted since: another one of the name begins without memory. */
  hasGone: boolean
}

const DAY_MS = 86_400_000

/** Clocks of processes differ by that from the clock of the API server, and pods are stamped to a second. */
const ROUNDED_MS = 5_000

/** Availability after which a process must have seen the end of the absence, in milliseconds. */
const STEADY_MS = 120_000

/** Time for which an answer about a node is used, and until it is asked again, in milliseconds. */
const ASKED_AGAIN_MS = 6 * 60_000

/** Starts without absences. */
export function followAbsences(clockSteps: readonly ClockSet[] = []): Absences {
  const absences: Absence[] = []
  const open = new Set<Absence>()
  let isPruned = false
  /** By how much the clock of the API server may have changed what is counted. */
  const doubtMs = (atMs: number): number =>
    clockSteps.filter((step) => step.atMs <= atMs && step.atMs > atMs - 2 * DAY_MS).reduce((sum, { ms }) => sum + Math.abs(ms), 0)
  const ofNode = (story: DaemonSetStory, node: string): readonly Absence[] =>
    absences.filter((one) => one.story === story && one.node === node)

  return {
    onDeletion({ daemonSet: story, pod: { node, uid: podUid }, atMs, permittedMs = atMs }, isCounted) {
      // What a rollback began need not be counted; a deletion of a release meanwhile must be.
      const away = [...open].filter((one) => one.story === story && one.node === node && one.backMs === null)
      if (away.some((one) => one.isCounted || !isCounted)) return
      const times = { backMs: null, mostNeededMs: story.mostMinReadyMs(), upSinceMs: null, steadyMs: null, hasGone: false }
      const absence: Absence = { story, node, podUid, permittedMs, deletedMs: atMs, isCounted, ...times }
      absences.push(absence)
      open.add(absence)
    },
    onWrite({ kind, type, namespace, o, node, t }) {
      if (kind === 'CustomResourceDefinition') isPruned = prunesRecord(o) ?? isPruned
      const name = String(o['name'] ?? node)
      const isGone = ({ story, node: own }: Absence): boolean =>
        kind === 'Node' ? own === name : kind === 'DaemonSet' && story.namespace === namespace && story.name === name
      for (const absence of open) follow(absence, { node: absence.story.node(absence.node), isPruned }, t)
      if (type === 'DELETED') for (const one of absences) if (isGone(one)) end(one, t)
      for (const absence of open) if (absence.steadyMs !== null) open.delete(absence)
    },
    surely(story, node, atMs) {
      const sum = ofNode(story, node).reduce((ms, { deletedMs, backMs, isCounted, hasGone }) => {
        const isSure = isCounted && !hasGone && backMs !== null && backMs <= atMs && deletedMs >= atMs - DAY_MS + ROUNDED_MS
        return ms + (isSure ? Math.max(0, backMs - deletedMs - ROUNDED_MS) : 0)
      }, 0)
      return Math.max(0, sum - doubtMs(atMs))
    },
    possibly(story, node, atMs) {
      const sinceMs = atMs - DAY_MS - ASKED_AGAIN_MS - doubtMs(atMs)
      return ofNode(story, node).reduce((ms, { permittedMs, steadyMs }) => {
        const toMs = Math.min(steadyMs ?? atMs, atMs) + ROUNDED_MS
        return toMs <= sinceMs || permittedMs > atMs ? ms : ms + toMs - Math.max(permittedMs, sinceMs) + ROUNDED_MS + doubtMs(atMs)
      }, 0)
    },
  }
}

/** Ends an absence: its node or its DaemonSet was deleted. */
function end(absence: Absence, t: number): void {
  absence.hasGone = true
  absence.steadyMs ??= t
}

/** A node before a write, and whether the definitions then prune the permit record. */
interface NodeBefore {
  readonly node: NodeStory | undefined
  readonly isPruned: boolean
}

function follow(absence: Absence, { node, isPruned }: NodeBefore, t: number): void {
  if (node?.wanted !== true) {
    // Processes may see that the node is not desired only once the agent is back: the permit of a node that is silent stays in flight.
    absence.backMs ??= t
    absence.upSinceMs = null
    return
  }
  absence.mostNeededMs = Math.max(absence.mostNeededMs, absence.story.mostMinReadyMs())
  const pods = [...node.pods.values()]
  const back = pods.flatMap((pod) => availableFromMs(stamped(pod), absence, pod.neededMs) ?? []).filter((fromMs) => fromMs <= t)
  if (back.length > 0) absence.backMs ??= Math.min(...back)
  const isUp = pods.some((pod) => (availableFromMs(pod, absence, absence.mostNeededMs) ?? Number.POSITIVE_INFINITY) <= t)
  absence.upSinceMs = isUp && !isPruned ? (absence.upSinceMs ?? t) : null
  if (absence.upSinceMs !== null && t - absence.upSinceMs >= STEADY_MS) absence.steadyMs = absence.upSinceMs
}

/**
 * Whether a definition lacks the permit record: no executor then sees the end of an absence.
 *
 * @returns undefined for a definition of another kind
 */
function prunesRecord(definition: RecordedWrite['o']): boolean | undefined {
  const { names } = definition['spec'] as { readonly names: { readonly kind: string } }
  return names.kind === 'BatchRelease' ? !JSON.stringify(definition).includes('"flight"') : undefined
}

/** A kubelet that writes late stamps when the pod became Ready: from then on the agent is back. */
function stamped(pod: PodStory): PodStory {
  const { readySinceMs, last } = pod
  return readySinceMs === null || last.readyAt === undefined
    ? pod
    : { ...pod, readySinceMs: Math.min(readySinceMs, Date.parse(last.readyAt)) }
}

/** From when the pod is available, if it stays Ready; null for one that is not Ready, and for the one that we deleted. */
function availableFromMs({ uid, ended, readySinceMs }: PodStory, { podUid, deletedMs }: Absence, neededMs: number): number | null {
  return uid !== podUid && ended === null && readySinceMs !== null ? Math.max(deletedMs, readySinceMs + neededMs) : null
}
