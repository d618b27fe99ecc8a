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

/** Groups nodes by why they are not well: those that fail by the reason of the status, others by their state. Largest group first. */
export function groupUnwell(failure: Failure | undefined, nodes: Iterable<NodeReport>): readonly UnwellGroup[] {
  const details = new Map((failure?.failedNodes ?? []).map((one) => [one.node, one]))
  const named = new Set(failure?.nodes ?? [])
  const unwell = [...nodes].filter(({ name, state }) => named.has(name) || state === 'failing' || state === 'down' || state === 'notReady')
  const listed = new Set(unwell.map(({ name }) => name))
  const unlisted = [...named].filter((name) => !listed.has(name)).map((name) => ({ name, state: 'failing' as const }))
  const groups = Map.groupBy([...unwell, ...unlisted], (node) => titleOf(node, details.get(node.name), failure))
  return [...groups]
    .map(([title, members]) => ({
      title,
      tone: members.some(({ state, name }) => state === 'failing' || named.has(name)) ? ('bad' as const) : ('wait' as const),
      nodes: members,
      example: members.map(({ name }) => details.get(name)).find((one) => one !== undefined),
    }))
    .sort((a, b) => Number(a.tone !== 'bad') - Number(b.tone !== 'bad') || b.nodes.length - a.nodes.length)
}

function titleOf(
  { name, state }: Pick<NodeReport, 'name' | 'state'>,
  detail: FailedNode | undefined,
  failure: Failure | undefined,
): string {
  if (detail !== undefined) return detail.reason
  if (failure?.nodes.includes(name) === true) return failure.reason
  if (state === 'failing') return 'New pod does not run'
  return state === 'notReady' ? 'Node is NotReady' : 'Old pod is not available'
}
