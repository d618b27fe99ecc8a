import { nodeInView, type NodeView } from '@tranche/fleet'
import { isBroken } from './node-tally.ts'
import { isGone, isOldNode, isTakeable, type Scene } from './scene.ts'

/**
 * Where the nodes in flight use the limit up and some of them run a broken old pod, of a version that never came up: those
 * on which a pod may be deleted again (F4), and nothing else is worth a permit. All of them while they are no more than
 * the limit, else the one of the last permit whose pod is gone. Null where no node in flight runs such a pod.
 */
export function nodesToTakeAgain(scene: Scene): readonly NodeView[] | null {
  const gone = scene.permits.filter(isGone).map(({ permit }) => permit.node)
  const nodes = new Set(gone)
  if (nodes.size < scene.record.limit) return null
  const broken = [...nodes].flatMap((name) => brokenOldNode(scene, name) ?? [])
  if (broken.length === 0) return null
  return nodes.size === scene.record.limit ? broken : broken.filter(({ name }) => name === gone.at(-1))
}

function brokenOldNode(scene: Scene, name: string): NodeView | undefined {
  const node = nodeInView(scene.view.fleet, name)
  return node !== undefined && isTakeable(scene, name) && isOldNode(scene.view, scene.record, name) && isBroken(node) ? node : undefined
}
