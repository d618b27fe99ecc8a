import { type FleetIndex, type FleetPod, type FleetView, keptPerBlock, type NodeBlock, type NodeView } from '@tranche/fleet'
import { parseTime } from '@tranche/kube-types'

/** Readable part of a fleet. */
export type Fleet = Pick<FleetIndex, 'view' | 'node'>

/**
 * Returns the same fleet for reports: pods count as Ready since the API server's timestamp, in epoch milliseconds, whenever this process
 * first saw them. Which of two changes it saw first is unknown. The copies live as long as the view that was requested.
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
  count: (block) => block.map(stampedNode),
  holds: () => true,
})

function stampedNode({ unreadyFromMs: _unreadyFromMs, ...node }: NodeView): NodeView {
  return { ...node, pods: node.pods.map(stampedPod) }
}

/** A Ready pod without a timestamp counts as always Ready. */
function stampedPod({ acknowledgedFromMs: _acknowledgedFromMs, ...pod }: FleetPod): FleetPod {
  return pod.ready ? { ...pod, readyFromMs: Math.max(0, parseTime(pod.readyStamp) ?? 0) } : pod
}
