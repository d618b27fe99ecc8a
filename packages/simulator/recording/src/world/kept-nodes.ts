import type { RecordedPod, RecordedWrite } from '../record/recorded-write.ts'
import { followAbsences } from './absences.ts'
import { type Consumers, followConsumers, type ForeignPod } from './consumers.ts'
import type { DaemonSetStory } from './daemon-set-story.ts'
import { followForeignPods } from './foreign-pods.ts'
import { followImages } from './images.ts'
import type { Decision, FailedRequest } from './observations.ts'
import { type ClockSet, followNodeLeases } from './node-locks.ts'
import type { Deletion } from './world.ts'
import { millisecondsOf, type RecordedDrain, type RecordedTerms } from './terms.ts'

/** Nodes that a policy allows to keep their pod for a while, although the order puts them first. */
export interface KeptNodes {
  /** Called for each write. */
  onWrite(write: RecordedWrite): void
  /** Called for each of our deletions, before it is applied. */
  onDeletion(deletion: Deletion): void
  /**
   * Whether one of these was so at the decision, where the policy asks for it:
   *
   * - room: another pod held room on the node in the last six minutes, or waited for it
   * - images to be pulled first: they are not there
   * - a drain with `Hold`: a consumer was on the node within the time for which the node rests
   * - Leases of nodes to be taken: another holder had that of the node in the last six minutes
   * - a limit of downtime: the agent may count as away for that long in the day before
   * - any of them: a request for the node, or for objects of no certain node, had no answer or an error in the last six minutes
   */
  mayBeKept(node: string, revision: string, of: Keeping): boolean
}

/** The decider, and its terms. */
export interface Keeping {
  readonly story: DaemonSetStory
  readonly decision: Decision
  /** Identity by which the BatchRelease holds Leases. */
  readonly holder: string
  readonly terms: RecordedTerms | undefined
}

/** @param failures in order of time @param clockSteps when the API server's clock was set */
export function followKeptNodes(failures: readonly FailedRequest[], clockSteps: readonly ClockSet[] = []): KeptNodes {
  const foreign = followForeignPods()
  const images = followImages()
  const consumers = followConsumers()
  const leases = followNodeLeases(clockSteps)
  const absences = followAbsences(clockSteps)
  const left = new Map<string, Departed[]>()
  const failed = Map.groupBy(failures.filter(isOfCheck), ({ actor }) => actor)
  const nodeOf = new Map<string, string>()

  function mayRest(node: string, drain: RecordedDrain, atMs: number): boolean {
    if (drain.onTimeout === 'Continue') return false
    const asked = drain.consumers ?? []
    const sinceMs = atMs - millisecondsOf(drain.timeout ?? DRAIN_TIMEOUT) - REST_STARTS_MS
    const isAsked = (pod: ForeignPod): boolean => consumers.isConsumer(pod, asked)
    return (
      [...consumers.on(node)].some(isAsked) || (left.get(node) ?? []).some(({ pod, atMs: leftMs }) => leftMs >= sinceMs && isAsked(pod))
    )
  }

  function mayHaveFailed(node: string, { actor, atMs }: Decision): boolean {
    return (failed.get(actor) ?? []).some(
      (one) => one.atMs <= atMs && one.atMs >= atMs - READ_AGAIN_MS && (nodeIn(one.path, nodeOf) ?? node) === node,
    )
  }

  return {
    onWrite(write) {
      foreign.onWrite(write)
      images.onWrite(write)
      leases.onWrite(write)
      absences.onWrite(write)
      followDeparture(left, consumers, write)
      consumers.onWrite(write)
      if (write.kind === 'Pod' && write.node !== undefined) nodeOf.set(String(write.o['name']), write.node)
    },
    onDeletion: (deletion) => absences.onDeletion(deletion, true),
    mayBeKept(node, revision, { story, decision, terms, holder }) {
      const { atMs } = decision
      const asksForRoom = terms?.nodes?.room === 'Check'
      if (asksForRoom && foreign.mayHaveHeldRoom(node, atMs - READ_AGAIN_MS, story)) return true
      if (terms?.prePull !== undefined && !images.hasPulledFor(node, revision, atMs - PULL_KNOWN_MS)) return true
      if (terms?.drain !== undefined && mayRest(node, terms.drain, atMs)) return true
      const locks = terms?.downtime?.nodeLock === 'Take'
      if (locks && leases.mayHaveBeenHeld(node, holder, atMs - READ_AGAIN_MS, atMs)) return true
      const perDay = terms?.downtime?.perDay
      if (perDay !== undefined && absences.possibly(story, node, atMs) >= millisecondsOf(perDay)) return true
      const isChecked = asksForRoom || locks || perDay !== undefined || terms?.prePull !== undefined || terms?.drain !== undefined
      return isChecked && mayHaveFailed(node, decision)
    },
  }
}

/** A pod that is no longer on its node. */
interface Departed {
  readonly pod: ForeignPod
  readonly atMs: number
}

function followDeparture(left: Map<string, Departed[]>, consumers: Consumers, { kind, type, o, t }: RecordedWrite): void {
  const { uid, phase } = o as unknown as RecordedPod
  const pod = kind === 'Pod' ? consumers.pod(uid) : undefined
  if (pod === undefined || (type !== 'DELETED' && phase !== 'Succeeded' && phase !== 'Failed')) return
  left.set(pod.node, [...(left.get(pod.node) ?? []), { pod, atMs: t }])
}

/** Whether a check sends such a request. */
function isOfCheck({ method, path }: FailedRequest): boolean {
  if (method === 'GET') return !/[?&]watch=/.test(path)
  return (
    path.includes('/eviction') || path.includes('/leases') || path.includes('/nodes/') || (path.includes('/pods') && method !== 'DELETE')
  )
}

/** @returns the node that the request is about; undefined when it does not show one */
function nodeIn(path: string, nodeOf: ReadonlyMap<string, string>): string | undefined {
  const text = decodeURIComponent(path)
  const named = /\/nodes\/([^/?]+)|spec\.nodeName=([^&,]+)/.exec(text)
  if (named !== null) return named[1] ?? named[2]
  const lease = /\/leases\/node-([^/?]+)/.exec(text)?.[1]
  if (lease !== undefined) return lease
  const pod = /\/pods\/([^/?]+)/.exec(text)?.[1]
  return pod === undefined ? undefined : nodeOf.get(pod)
}

/** Longest time until a node is read again, and time to read, in milliseconds. */
const READ_AGAIN_MS = 6 * 60_000

/** Time within which an executor uses what a helper pod has pulled, in milliseconds: other nodes may have been chosen meanwhile. */
const PULL_KNOWN_MS = 30_000

/** @see policy.md, `drain.timeout` */
const DRAIN_TIMEOUT = '10m'

/** Longest time from the last look at the consumers to the rest, in milliseconds. */
const REST_STARTS_MS = 30_000
