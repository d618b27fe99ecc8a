import { hasDrainCondition, uncordonPatch } from '@tranche/drain'
import { resourcePaths } from '@tranche/kube-client'
import { GROUP_LABEL, keyOf, type KubeObject, type Node, type ObjectKey, PRE_PULL_LABEL } from '@tranche/kube-types'
import type { ClusterSigns } from './cluster-signs.ts'
import { type Denied, isDenied, unlessDenied } from './guarded-reads.ts'
import { listWide, type WideReader } from './list-wide.ts'

/** Node with the mark of a drain, or with its condition. */
export interface MarkedNode {
  readonly name: string
  /** Whether an executor has cordoned it, and not a user. */
  readonly isCordoned: boolean
  /** Whether an executor has set its condition `DrainInProgress`, with the mark or without; absent if not. */
  readonly condition?: 'marked' | 'alone'
}

/** What programs did for releases in progress, which only they undo. */
export interface LeftWork {
  readonly nodes: readonly MarkedNode[] | Denied
  /** Helper pods of prePull. */
  readonly helpers: readonly ObjectKey[] | Denied
  /** Leases of groups. */
  readonly leases: readonly ObjectKey[] | Denied
}

/** Signs of whether programs run. */
export interface RunningSigns extends Pick<ClusterSigns, 'leader' | 'installed' | 'rollouts'> {
  /** Time of the API server, epoch milliseconds. */
  readonly serverMs: number
}

/**
 * Looks for work of programs that do not run any more. Costs no request while they run.
 *
 * @returns null where executors seem to run
 */
export async function readLeftWork(reader: WideReader, signs: RunningSigns): Promise<LeftWork | null> {
  const hasLeader = leads(signs)
  if (hasLeader && !lacksExecutor(signs)) return null
  const [nodes, helpers, leases] = await Promise.all([
    unlessDenied(reader.reads.list<MarkedNode>(resourcePaths.nodes, { transform: toMarkedNode })),
    unlessDenied(listWide<ObjectKey>(reader, resourcePaths.pods, { labelSelector: PRE_PULL_LABEL, transform: keyOf })),
    hasLeader
      ? { items: [] }
      : unlessDenied(listWide<ObjectKey>(reader, resourcePaths.leases, { labelSelector: GROUP_LABEL, transform: keyOf })),
  ])
  return { nodes: itemsOf(nodes), helpers: itemsOf(helpers), leases: itemsOf(leases) }
}

/** Whether a controller holds the Lease, or handles all Rollouts without one; true also where that is unknown. */
function leads({ leader, rollouts, serverMs }: RunningSigns): boolean {
  if (leader === null) return isDenied(rollouts) || (rollouts.length > 0 && rollouts.every(({ isAnswered }) => isAnswered))
  return isDenied(leader) || (leader.holder !== '' && serverMs - leader.renewedMs <= leader.lengthMs)
}

/** Whether the chart has pods here, and none of them is an executor. */
function lacksExecutor({ installed }: RunningSigns): boolean {
  if (isDenied(installed) || installed.length === 0) return false
  return !installed.some(({ component }) => component === 'executor' || component === 'all-in-one')
}

/** By the rule of executors, which never undo the cordon of a user. */
function toMarkedNode(object: KubeObject): MarkedNode | null {
  const undo = uncordonPatch(object as Node)
  const hasCondition = hasDrainCondition(object as Node)
  if (undo === null && !hasCondition) return null
  const condition = undo === null ? 'alone' : 'marked'
  return { name: object.metadata.name, isCordoned: undo?.spec !== undefined, ...(hasCondition && { condition }) }
}

function itemsOf<T>(list: { readonly items: readonly T[] } | Denied): readonly T[] | Denied {
  return isDenied(list) ? list : list.items
}
