import type { Failure, NodeReport } from '@tranche/api-schema'
import type { Tone } from '../../../format/outcome-text.ts'

type FailedNode = NonNullable<Failure['failedNodes']>[number]

/** Nodes that are not well for one reason. */
export interface UnwellGroup {
  /** Reason in one word, such as `CrashLoopBackOff`, or the state of the nodes. */
  readonly title: string
  readonly tone: Tone
  readonly nodes: readonly { readonly name: string; readonly since?: string | undefined }[]
  /** One failed node with its details, if the status has them. */
  readonly example?: FailedNode | undefined
}

type LiveNode = Pick<NodeReport, 'name' | 'state' | 'role' | 'since'>

/**
 * Groups nodes by why they are not well: those that fail by the reason of the status, others by their state. Largest group first. The status
 * keeps the failure after a rollback; a node without a pod of the failed version does not count for it.
 *
 * @param isOver whether no release runs: nothing is being updated then, and a node in that state has no available pod
 */
export function groupUnwell(failure: Failure | undefined, nodes: Iterable<LiveNode>, isOver = false): readonly UnwellGroup[] {
  const details = new Map((failure?.failedNodes ?? []).map((one) => [one.node, one]))
  const named = new Set(failure?.nodes ?? [])
  const hasFailed = ({ name, role }: Pick<LiveNode, 'name' | 'role'>): boolean => named.has(name) && role === 'canary'
  const listed = [...nodes]
  const known = new Set(listed.map(({ name }) => name))
  const isUnwell = ({ state }: LiveNode): boolean =>
    state === 'failing' || state === 'down' || state === 'notReady' || (isOver && state === 'updating')
  const unwell = listed.filter((node) => hasFailed(node) || isUnwell(node))
  const unlisted = [...named]
    .filter((name) => !known.has(name))
    .map((name) => ({ name, state: 'failing' as const, role: 'canary' as const }))
  const failedOf = (node: Pick<LiveNode, 'name' | 'role'>): FailedNode | undefined => (hasFailed(node) ? details.get(node.name) : undefined)
  const groups = Map.groupBy([...unwell, ...unlisted], (node) => titleOf(node, failedOf(node), hasFailed(node) ? failure : undefined))
  return [...groups]
    .map(([title, members]) => ({
      title,
      tone: members.some((node) => node.state === 'failing' || hasFailed(node)) ? ('bad' as const) : ('wait' as const),
      nodes: members,
      example: members.map(failedOf).find((one) => one !== undefined),
    }))
    .sort((a, b) => Number(a.tone !== 'bad') - Number(b.tone !== 'bad') || b.nodes.length - a.nodes.length)
}

function titleOf({ state }: Pick<NodeReport, 'state'>, detail: FailedNode | undefined, failure: Failure | undefined): string {
  if (detail !== undefined) return detail.reason
  if (failure !== undefined) return failure.reason
  if (state === 'failing') return 'New pod does not run'
  if (state === 'updating') return 'Pod is not available'
  return state === 'notReady' ? 'Node is NotReady' : 'Old pod is not available'
}
