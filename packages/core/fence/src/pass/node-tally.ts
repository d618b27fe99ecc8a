import { availableFromMs, type FleetView, isAvailable, keptPerBlock, type NodeBlock, type NodeView } from '@tranche/fleet'
import { type CountQuestion, isSameAnswer } from '../nodes/count-question.ts'
import { hasOldPod } from '../nodes/old-nodes.ts'

/** Counts of a view's desired nodes for one revision. */
export interface NodeTally {
  readonly desired: number
  /** Desired nodes without a standing pod of another revision: they run, or will come back on, the revision. */
  readonly onRevision: number
  /** Desired nodes without an available pod: U of G1. */
  readonly unavailable: readonly NodeView[]
  /** Desired nodes with a standing pod of another revision. */
  readonly old: readonly NodeView[]
  /** Nodes of `old` that are broken. */
  readonly broken: readonly NodeView[]
  /** The next moment (monotonic) at which a Ready pod becomes available by the clock alone; null when none will. */
  readonly nextAvailableMs: number | null
}

/** Counts the desired nodes of `fleet`; returns the last result while the view is unchanged. */
export function tallyNodes(fleet: FleetView, question: CountQuestion): NodeTally {
  const blocks = tallyPerBlock(fleet, question)
  return {
    desired: fleet.desired,
    onRevision: blocks.reduce((sum, { onRevision }) => sum + onRevision, 0),
    unavailable: blocks.flatMap(({ unavailable }) => unavailable),
    old: blocks.flatMap(({ old }) => old),
    broken: blocks.flatMap(({ broken }) => broken),
    nextAvailableMs: blocks.reduce<number | null>((next, { nextAvailableMs }) => earlier(next, nextAvailableMs), null),
  }
}

/** Whether a node has no Ready pod: taking it costs no budget, now or later. */
export function isBroken({ pods }: NodeView): boolean {
  return !pods.some((pod) => pod.ready && !pod.terminating)
}

type BlockTally = Omit<NodeTally, 'desired'>

const tallyPerBlock = keptPerBlock<CountQuestion, BlockTally>({
  count: tallyBlock,
  holds: (known, asked, { nextAvailableMs }) => isSameAnswer(known, asked, nextAvailableMs),
})

function tallyBlock(block: NodeBlock, { revision, minReadyMs, monotonicMs }: CountQuestion): BlockTally {
  const unavailable: NodeView[] = []
  const old: NodeView[] = []
  let onRevision = 0
  let nextAvailableMs: number | null = null
  for (const node of block) {
    if (!node.desired) continue
    if (hasOldPod(node, revision)) old.push(node)
    else onRevision++
    if (node.pods.some((pod) => isAvailable(pod, minReadyMs, monotonicMs))) continue
    unavailable.push(node)
    nextAvailableMs = earlier(nextAvailableMs, nextAvailableOn(node, minReadyMs))
  }
  return { onRevision, unavailable, old, broken: old.filter(isBroken), nextAvailableMs }
}

function nextAvailableOn(node: NodeView, minReadyMs: number): number | null {
  return node.pods.reduce<number | null>((next, pod) => (pod.terminating ? next : earlier(next, availableFromMs(pod, minReadyMs))), null)
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
