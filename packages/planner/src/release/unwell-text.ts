import type { BatchProgress } from './batch-progress.ts'

/** The updated nodes that are not available, grouped by what their pods say: `ImagePullBackOff on node-03, node-07`. */
export function unwellText(progress: Pick<BatchProgress, 'unwell'>): string {
  const byReason = new Map<string, string[]>()
  for (const { node, pod } of progress.unwell) {
    const reason =
      pod.trouble?.reason ?? (pod.ready ? 'Ready, but not yet for minReadySeconds' : pod.phase === 'Pending' ? 'Pending' : 'not ready')
    byReason.set(reason, [...(byReason.get(reason) ?? []), node])
  }
  const groups = [...byReason].sort(([a, nodesOfA], [b, nodesOfB]) => nodesOfB.length - nodesOfA.length || (a < b ? -1 : 1))
  return groups.map(([reason, nodes]) => `${reason} on ${firstNodes(nodes)}`).join('; ')
}

/** The first names and how many more there are. */
export function firstNodes(nodes: readonly string[]): string {
  return nodes.length <= 3 ? nodes.join(', ') : `${nodes.slice(0, 3).join(', ')} and ${nodes.length - 3} more`
}
