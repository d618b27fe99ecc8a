import { DOWNTIME_ANNOTATION, DOWNTIME_LABEL, type Lease, type ObjectKey, sha256Hex, parseTime, readJson } from '@tranche/kube-types'
import { isSamePermit } from './cordon-mark.ts'
import { type Downtime, keptDowntimes } from './downtime-window.ts'
import type { SeenPermit } from './node-lock.ts'

/** Times without an agent on a node because of Tranche. */
export interface Downtimes {
  /** The oldest first. */
  readonly past: readonly Downtime[]
  /** Downtime that has not ended, or is about to begin; null without one. */
  readonly open: OpenDowntime | null
}

/** Downtime of a pod that is about to be deleted, or whose successor is not available yet. */
export interface OpenDowntime {
  /** Epoch milliseconds, not after the deletion. */
  readonly fromMs: number
  /** Permit of the pod, and where it was seen. */
  readonly permitted: SeenPermit
  /** The agent was away because of an earlier permit: that counts, also if the pod of this one is not deleted. @default false */
  readonly wasAway?: boolean
}

/** The agent of a node: a DaemonSet there. */
export interface NodeAgent {
  readonly daemonSet: ObjectKey & { readonly uid: string }
  readonly node: string
}

/** Memory of a node: a Lease whose annotation has its downtimes. */
export interface NodeDowntime extends NodeAgent, Downtimes {
  readonly uid: string
  readonly resourceVersion: string
}

/** Whether an agent is back from an open downtime. */
export type AgentReturn =
  /** Its pod was not deleted, and is available from this time on, in epoch milliseconds; null: it is not available. */
  | { readonly kind: 'stayed'; readonly atMs: number | null }
  /** Another pod is available from this time on, in epoch milliseconds. */
  | { readonly kind: 'back'; readonly atMs: number }
  | { readonly kind: 'away' }

/** Request to remember the downtimes of a node. */
export interface DowntimeWanted {
  readonly agent: NodeAgent
  /** UID of the Node, which owns the Lease; undefined for a node that is gone. */
  readonly nodeUid: string | undefined
  readonly downtimes: Downtimes
}

/** Name of the Lease that remembers the downtimes of an agent on a node. */
export function downtimeName({ daemonSet, node }: NodeAgent): string {
  return `tranche-downtime-${sha256Hex(`${daemonSet.uid}/${node}`).slice(0, NAME_DIGITS)}`
}

/** @returns all times without an agent, an open one until now */
export function allDowntimes({ past, open }: Downtimes, agent: AgentReturn, nowMs: number): readonly Downtime[] {
  return open === null ? past : [...past, ...ended(open, agent, nowMs)]
}

/**
 * The memory before the pod of a permit is deleted. An agent that has been away since an earlier deletion, stays away: the downtime only gets the
 * new permit.
 *
 * @param agent whether it is back from the downtime that is open
 * @returns null if the permit is remembered already
 */
export function downtimeBegun({ past, open }: Downtimes, permitted: SeenPermit, agent: AgentReturn, nowMs: number): Downtimes | null {
  if (open !== null && isSamePermit(open.permitted.permit, permitted.permit)) return null
  if (open !== null && isStillAway(open, agent)) return { past, open: { fromMs: open.fromMs, permitted, wasAway: true } }
  return { past: keptDowntimes(allDowntimes({ past, open }, agent, nowMs), nowMs), open: { fromMs: nowMs, permitted } }
}

/** Age of a remembered start after which it is corrected if the pod of its permit is still there, in milliseconds. That costs two requests. */
const START_KEPT_MS = 60_000

/**
 * Whether a downtime that was remembered for this permit has not begun, as far as a watch shows: something has kept the pod from its deletion since.
 *
 * @param agent as in {@link downtimeBegun}
 */
export function isStartOutdated(open: OpenDowntime, permitted: SeenPermit, agent: AgentReturn, nowMs: number): boolean {
  const isThere = agent.kind === 'stayed' && open.wasAway !== true && isSamePermit(open.permitted.permit, permitted.permit)
  return isThere && nowMs - open.fromMs >= START_KEPT_MS
}

/** Whether an open downtime continues: the agent has not come back since the pod of a permit was deleted. */
export function isStillAway({ wasAway }: OpenDowntime, agent: AgentReturn): boolean {
  return agent.kind === 'away' || (agent.kind === 'stayed' && wasAway === true && agent.atMs === null)
}

/** The memory once the permit of the open downtime is over. */
export function downtimeEnded(downtimes: Downtimes, agent: AgentReturn, nowMs: number): Downtimes {
  return { past: keptDowntimes(allDowntimes(downtimes, agent, nowMs), nowMs), open: null }
}

/** @returns the memory in a Lease; null for a Lease of another kind. An annotation that cannot be read is empty. */
export function toNodeDowntime({ metadata, spec }: Lease): NodeDowntime | null {
  const [namespace = '', name = '', node = '', ...more] = (spec?.holderIdentity ?? '').split('/')
  const agent = { daemonSet: { namespace, name, uid: metadata.labels?.[DOWNTIME_LABEL] ?? '' }, node }
  if (more.length > 0 || metadata.name !== downtimeName(agent)) return null
  const { uid, resourceVersion } = metadata
  return { ...agent, uid, resourceVersion, ...downtimesIn(metadata.annotations?.[DOWNTIME_ANNOTATION] ?? '') }
}

/** Body of the request that writes a memory: a new Lease, or a merge patch of the one that was read. */
export interface DowntimeBody {
  readonly metadata: {
    readonly name?: string
    readonly resourceVersion?: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations: Readonly<Record<string, string>>
    readonly ownerReferences?: readonly object[]
  }
  readonly spec: { readonly holderIdentity: string }
}

/** @param before the Lease as it was read; null without one */
export function downtimeBody(before: NodeDowntime | null, { agent, nodeUid, downtimes }: DowntimeWanted): DowntimeBody {
  const { daemonSet, node } = agent
  return {
    metadata: {
      ...(before === null ? { name: downtimeName(agent) } : { resourceVersion: before.resourceVersion }),
      labels: { [DOWNTIME_LABEL]: daemonSet.uid },
      annotations: { [DOWNTIME_ANNOTATION]: textOf(downtimes) },
      ...(nodeUid !== undefined && { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node, uid: nodeUid }] }),
    },
    spec: { holderIdentity: `${daemonSet.namespace}/${daemonSet.name}/${node}` },
  }
}

/** Digits of the digest in a name: names of nodes and DaemonSets together may be longer than a name. */
const NAME_DIGITS = 32

/** Maximum length of an annotation that is read, in characters; Tranche writes less than 3,000. */
const LONGEST_TEXT = 10_000

function ended(open: OpenDowntime, agent: AgentReturn, nowMs: number): readonly Downtime[] {
  const { fromMs, wasAway } = open
  if (agent.kind === 'stayed' && wasAway !== true) return []
  const toMs = agent.kind === 'away' ? nowMs : Math.min(agent.atMs ?? nowMs, nowMs)
  return toMs > fromMs ? [{ fromMs, toMs }] : []
}

function textOf({ past, open }: Downtimes): string {
  const times = past.map(({ fromMs, toMs }) => [isoText(fromMs), isoText(toMs)])
  return JSON.stringify({ past: times, ...(open !== null && { open: storedOpen(open) }) })
}

function storedOpen({ fromMs, wasAway, permitted: { release, permit, seenAt } }: OpenDowntime): StoredDowntimes['open'] {
  const { podUid, podResourceVersion } = permit
  return { from: isoText(fromMs), release, permit: { podUid, podResourceVersion }, seenAt, ...(wasAway === true && { wasAway }) }
}

function downtimesIn(text: string): Downtimes {
  try {
    const { past = [], open } = readJson(text.length > LONGEST_TEXT ? '{}' : text) as StoredDowntimes
    const read = past.flatMap(([from, to]) => {
      const [fromMs, toMs] = [parseTime(from), parseTime(to)]
      return fromMs === null || toMs === null || fromMs > toMs ? [] : [{ fromMs, toMs }]
    })
    return { past: read, open: openIn(open) }
  } catch {
    return { past: [], open: null }
  }
}

interface StoredDowntimes {
  readonly past?: readonly (readonly [string, string])[]
  readonly open?: SeenPermit & { readonly from: string; readonly wasAway?: boolean }
}

function openIn(stored: StoredDowntimes['open']): OpenDowntime | null {
  if (stored === undefined) return null
  const { from, release, permit, seenAt, wasAway } = stored
  const fromMs = parseTime(from)
  const { namespace, name, uid } = release
  const { podUid, podResourceVersion } = permit
  const isWhole = [namespace, name, uid, podUid, podResourceVersion, seenAt].every((field) => typeof field === 'string')
  if (!isWhole || fromMs === null) return null
  const permitted = { release: { namespace, name, uid }, permit: { podUid, podResourceVersion }, seenAt }
  return { fromMs, permitted, ...(wasAway === true && { wasAway }) }
}

function isoText(epochMs: number): string {
  return new Date(epochMs).toISOString()
}
