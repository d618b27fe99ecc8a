import type { BatchRelease } from '@tranche/api-schema'
import { lastPermits } from '@tranche/fence'
import { isWayBack } from '@tranche/verdict'
import type { BatchProgress } from './batch-progress.ts'
import { insteadOfAbort } from './instead-of-abort.ts'
import { leadsPast } from './later-step.ts'

/** Updated nodes that are not available, grouped by what their pods report: `ImagePullBackOff on node-03, node-07`. */
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

/** Updated nodes whose failures do not count, by cause. */
export interface BadBefore {
  /** They had no available pod before their update either, and the new pod does not run there. */
  readonly before: readonly string[]
  /** They ran the version before the release, and were unhealthy when it began. */
  readonly older: readonly string[]
}

/**
 * Nodes that were bad before: the version has not failed there, so no deadline ends the wait for them.
 *
 * @param release undefined before the first pass
 */
export function badBeforeNodes({ unwell }: Pick<BatchProgress, 'unwell'>, release: BatchRelease | undefined): BadBefore {
  const { flight, stoppedTime } = release?.status ?? {}
  const bad = new Set(lastPermits(flight?.permits ?? []).flatMap(({ node, wasBad }) => (wasBad === true ? [node] : [])))
  const olderPods = new Set(stoppedTime?.olderPods)
  return {
    before: unwell.filter(({ node, pod }) => bad.has(node) && pod.trouble !== undefined).map(({ node }) => node),
    older: unwell.filter(({ pod }) => olderPods.has(pod.uid)).map(({ node }) => node),
  }
}

/** Says of {@link badBeforeNodes} what ends the wait. A rollback cannot be aborted. Begins with a semicolon; empty without such nodes. */
export function badBeforeText(progress: Pick<BatchProgress, 'unwell' | 'unavailable'>, release: BatchRelease | undefined): string {
  const { before, older } = badBeforeNodes(progress, release)
  const found = [
    ...(before.length === 0 ? [] : [`${firstNodes(before)} had no available pod before the update either`]),
    ...(older.length === 0 ? [] : [`${firstNodes(older)} ran the version before the release`]),
  ]
  if (found.length === 0) return ''
  const said = `; ${found.join(', and ')}, so the version has not failed and no deadline applies`
  if (release === undefined || isWayBack(release)) return said
  const jump = leadsPast(release, progress) ? 'jump to a later step, or ' : ''
  const node = before.length + older.length === 1 ? 'the node' : 'the nodes'
  return `${said}: fix ${node}, or apply another template; or ${jump}abort${insteadOfAbort(release, 'Rollback')}`
}

/**
 * The first names, and the number of the others: of nodes, or of other objects.
 *
 * @param textOf text for one of the first names
 * @param count number of all nodes, where `nodes` has only some of them
 */
export function firstNodes(nodes: readonly string[], textOf = (name: string): string => name, count = nodes.length): string {
  const shown = count <= 3 ? nodes : nodes.slice(0, 3)
  const named = shown.map(textOf).join(', ')
  return count <= 3 ? named : `${named} and ${count - 3} more`
}
