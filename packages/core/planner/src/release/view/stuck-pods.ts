import type { Waiting } from '@tranche/api-schema'
import { type FleetPod, keptPerBlock } from '@tranche/fleet'
import type { ReleaseView } from './release-view.ts'

/** How long (ms) past its grace period a terminating pod on a node with a live kubelet may remain: images and volumes are slow. */
const SLOW_MS = 60_000

/**
 * F12: a pod that never terminates costs its slot. When such pods use all slots, a person must act: Tranche never forces a
 * deletion. A pod is stuck in three cases:
 * - only its finalizers keep it;
 * - its grace period is over on a NotReady node, where nothing can end it;
 * - its grace period has long been over on any node.
 *
 * @param exempt names of dead nodes, which cost no budget
 */
export function stuckPods({ fleet, nowMs }: ReleaseView, limit: number, exempt: ReadonlySet<string>): Omit<Waiting, 'since'> | null {
  const stuck = terminatingPerBlock(fleet, null)
    .flat()
    .filter((one) => stuckFromMs(one) <= nowMs && !exempt.has(one.pod.node))
  const nodes = [...new Set(stuck.map(({ pod }) => pod.node))]
  if (nodes.length < limit || nodes.length === 0) return null
  const named = stuck.slice(0, 3).map(({ pod, ready }) => `${pod.name} on ${pod.node} ${whyText(pod, ready)}`)
  const more = stuck.length > named.length ? ` and ${stuck.length - named.length} more` : ''
  const message = `maxUnavailable (${limit}) is used up by pods that do not terminate: ${named.join('; ')}${more}; ${remedyText(stuck)}`
  return { reason: 'PodsStuck', message, nodes }
}

/** When (epoch ms) the next terminating pod would count as stuck; null where none will. */
export function nextStuckMs({ fleet, nowMs }: ReleaseView): number | null {
  const moments = terminatingPerBlock(fleet, null).flat().map(stuckFromMs)
  const next = Math.min(...moments.filter((ms) => ms > nowMs))
  return Number.isFinite(next) ? next : null
}

interface TerminatingPod {
  readonly pod: FleetPod
  /** Whether its node's kubelet answers. */
  readonly ready: boolean
}

const terminatingPerBlock = keptPerBlock<null, readonly TerminatingPod[]>({
  count: (block) =>
    block
      .filter(({ desired }) => desired)
      .flatMap(({ pods, ready }) => pods.filter(({ terminating }) => terminating).map((pod) => ({ pod, ready }))),
  holds: () => true,
})

function stuckFromMs({ pod, ready }: TerminatingPod): number {
  if (pod.keptBy !== undefined) return 0
  return pod.goneByMs === undefined ? Number.POSITIVE_INFINITY : pod.goneByMs + (ready ? SLOW_MS : 0)
}

function whyText({ keptBy }: FleetPod, ready: boolean): string {
  if (keptBy !== undefined) return `kept by its finalizers ${keptBy.join(', ')}`
  return ready ? 'whose kubelet does not end it' : 'which is NotReady'
}

function remedyText(stuck: readonly TerminatingPod[]): string {
  const remedies = [
    stuck.some(({ pod }) => pod.keptBy !== undefined) ? 'remove the finalizers once their work is done' : '',
    stuck.some(({ pod, ready }) => pod.keptBy === undefined && !ready) ? 'bring the nodes back, or remove them for good' : '',
    stuck.some(({ pod, ready }) => pod.keptBy === undefined && ready) ? 'find out why the kubelet does not end the pod' : '',
  ]
  return remedies.filter((remedy) => remedy !== '').join('; ')
}
