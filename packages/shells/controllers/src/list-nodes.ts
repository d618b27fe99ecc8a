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
  /** Fewest nodes that the DaemonSet controller has counted since. A higher count asks again. */
  readonly counted: number
}

/** Dependencies of {@link listUnseenNodes}. */
interface ListParts {
  readonly cluster: Pick<ReleasePort, 'listDesiredNodes'>
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

/** G3: lists the desired nodes live, and keeps those that our view lacks. A list that fails says nothing, and is tried again later. */
export async function listUnseenNodes(
  { release, fleet }: Pick<ReleaseView, 'release' | 'fleet'>,
  daemonSet: DaemonSet,
  { cluster, clock, log, signal }: ListParts,
): Promise<KnownNodeList> {
  const known = { uid: daemonSet.metadata.uid, counted: daemonSet.status?.desiredNumberScheduled ?? 0 }
  try {
    const nodes = await cluster.listDesiredNodes(daemonSet, signal)
    const unseen = nodes.filter((name) => !isShown(fleet, name))
    if (unseen.length > 0) log.info({ ...fieldsOf(release), objects: unseen.length }, 'watch of nodes is behind')
    return { ...known, unseen, againMs: clock.monotonicMs() + LIST_AGAIN_MS }
  } catch (error) {
    signal.throwIfAborted()
    log.warn({ ...fieldsOf(release), err: error }, 'could not list nodes')
    return { ...known, unseen: null, againMs: clock.monotonicMs() + LIST_AGAIN_MS }
  }
}

/**
 * What a list still says to a later view; undefined once the view has all nodes that the DaemonSet controller counts. A higher count asks for
 * another list, also after a lower one. So does a list without such nodes that is old.
 */
export function nodeListFor(
  list: KnownNodeList | null,
  view: Pick<ReleaseView, 'daemonSet' | 'fleet' | 'monotonicMs'>,
): KnownNodeList | undefined {
  const { daemonSet, fleet, monotonicMs } = view
  if (list === null || moreNodesCounted(view) === 0 || daemonSet?.metadata.uid !== list.uid) return undefined
  const counted = daemonSet.status?.desiredNumberScheduled ?? 0
  const isOld = list.unseen?.length === 0 && monotonicMs >= list.againMs
  if (counted > list.counted || isOld) return { ...list, unseen: null }
  return { ...list, counted, unseen: list.unseen?.filter((name) => !isShown(fleet, name)) ?? null }
}

function isShown(fleet: ReleaseView['fleet'], name: string): boolean {
  return nodeInView(fleet, name)?.desired === true
}
