import { type FleetIndex, type FleetPod, type FleetView, keptPerBlock, type NodeBlock } from '@tranche/fleet'
import { parseTime } from '@tranche/kube-types'

/** Readable part of a fleet. */
export type Fleet = Pick<FleetIndex, 'view' | 'node'>

/**
 * Returns the same fleet for reports: pods count as Ready since the API server's timestamp, in epoch milliseconds, whenever this process
 * first saw them. The copies live as long as the view that was requested.
 */
export function stampedFleet(fleet: Fleet): Fleet {
  const known = new WeakMap<FleetView, FleetView>()
  return {
    node: (name) => fleet.node(name),
    view(owner) {
      const seen = fleet.view(owner)
      const stamped = known.get(seen) ?? stampedView(seen)
      known.set(seen, stamped)
      return stamped
    },
  }
}

function stampedView(view: FleetView): FleetView {
  const blocks = stampedBlocks(view, null)
  return { nodes: blocks.flat(), desired: view.desired, blocks }
}

const stampedBlocks = keptPerBlock<null, NodeBlock>({
  count: (block) => block.map((node) => ({ ...node, pods: node.pods.map(stampedPod) })),
  holds: () => true,
})

/** A Ready pod without a timestamp counts as always Ready. */
function stampedPod(pod: FleetPod): FleetPod {
  return pod.ready ? { ...pod, readyFromMs: Math.max(0, parseTime(pod.readyStamp) ?? 0) } : pod
}
