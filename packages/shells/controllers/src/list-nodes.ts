import type { Clock } from '@tranche/clock'
import { nodeInView } from '@tranche/fleet'
import type { DaemonSet } from '@tranche/kube-types'
import { moreNodesCounted, type LiveNodeList, type ReleaseView } from '@tranche/planner'
import type { Logger } from '@tranche/telemetry'
import { fieldsOf } from './log-plans.ts'
import type { ReleasePort } from './release-port.ts'

/** Time (ms) after which nodes are listed again where our view may still lack some. A list of 5,000 nodes is large. */
const LIST_AGAIN_MS = 30_000

/** A live list of nodes, as a process remembers it. */
export interface KnownNodeList extends LiveNodeList {
  /** uid of the DaemonSet. */
  readonly uid: string
  /** Nodes that the DaemonSet controller counted then. A higher count asks again. */
  readonly counted: number
}

/** Dependencies of {@link listHiddenNodes}. */
interface ListParts {
  readonly cluster: Pick<ReleasePort, 'listDesiredNodes'>
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

/** G3: lists the desired nodes live, and keeps those that our view lacks. A list that fails says nothing, and is tried again later. */
export async function listHiddenNodes(
  { release, fleet }: Pick<ReleaseView, 'release' | 'fleet'>,
  daemonSet: DaemonSet,
  { cluster, clock, log, signal }: ListParts,
): Promise<KnownNodeList> {
  const known = { uid: daemonSet.metadata.uid, counted: daemonSet.status?.desiredNumberScheduled ?? 0 }
  try {
    const nodes = await cluster.listDesiredNodes(daemonSet, signal)
    const hidden = nodes.filter((name) => !isShown(fleet, name))
    if (hidden.length > 0) log.info({ ...fieldsOf(release), nodes: hidden.length }, 'watch of nodes is behind')
    return { ...known, hidden, againMs: clock.monotonicMs() + LIST_AGAIN_MS }
  } catch (error) {
    signal.throwIfAborted()
    log.warn({ ...fieldsOf(release), err: error }, 'could not list nodes')
    return { ...known, hidden: null, againMs: clock.monotonicMs() + LIST_AGAIN_MS }
  }
}

/** What a list still says to a later view; undefined once the view has all nodes that the DaemonSet controller counts. */
export function nodeListFor(list: KnownNodeList | null, view: Pick<ReleaseView, 'daemonSet' | 'fleet'>): KnownNodeList | undefined {
  const { daemonSet, fleet } = view
  if (list === null || moreNodesCounted(view) === 0 || daemonSet?.metadata.uid !== list.uid) return undefined
  if ((daemonSet.status?.desiredNumberScheduled ?? 0) > list.counted) return { ...list, hidden: null }
  return { ...list, hidden: list.hidden?.filter((name) => !isShown(fleet, name)) ?? null }
}

function isShown(fleet: ReleaseView['fleet'], name: string): boolean {
  return nodeInView(fleet, name)?.desired === true
}
