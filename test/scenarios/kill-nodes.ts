import { resourcePaths } from '@tranche/kube-client'
import type { Node } from '@tranche/kube-types'
import { drive, type Stage } from './stage.ts'

/** Ends the kubelets of nodes spread over the fleet. @returns their names, sorted */
export async function killNodes(stage: Stage, count: number): Promise<readonly string[]> {
  const { items } = await stage.client.list<Node>(resourcePaths.nodes, {})
  const names = items.map(({ metadata }) => metadata.name).toSorted()
  const dead = names.filter((_, at) => at % Math.floor(names.length / count) === 0).slice(0, count)
  for (const node of dead) await drive(stage.clock, stage.simulator.nodes.kill(node))
  return dead
}

/** Deletes the pods on these nodes, as a native update does: without a kubelet they stay terminating. */
export async function deletePodsOn(stage: Stage, nodes: readonly string[]): Promise<void> {
  for (const { metadata, spec } of await stage.pods())
    if (nodes.includes(spec?.nodeName ?? ''))
      await stage.client.delete(resourcePaths.pods, { namespace: metadata.namespace ?? '', name: metadata.name }, {})
}
