import type { Waiting } from '@tranche/api-schema'
import { type FleetPod, keptPerBlock } from '@tranche/fleet'
import type { ReleaseView } from './release-view.ts'

/** How long after its time a terminating pod on a node whose kubelet answers may still be there: images and volumes are slow. */
const SLOW_MS = 60_000

/**
 * F12: a pod that never goes costs its slot; when such pods have them all, somebody must act, for we never force a
 * deletion. A pod is stuck that only its finalizers keep, one whose time is up on a node that is NotReady, for nobody there
 * can end it, and one whose time is long up wherever it is.
 */
export function stuckPods({ fleet, nowMs }: ReleaseView, limit: number): Omit<Waiting, 'since'> | null {
  const stuck = terminatingPerBlock(fleet, null)
    .flat()
    .filter((pod) => stuckFromMs(pod) <= nowMs)
  const nodes = [...new Set(stuck.map(({ pod }) => pod.node))]
  if (nodes.length < limit || nodes.length === 0) return null
  const named = stuck.slice(0, 3).map(({ pod, ready }) => `${pod.name} on ${pod.node} ${whyText(pod, ready)}`)
  const more = stuck.length > named.length ? ` and ${stuck.length - named.length} more` : ''
  const message = `maxUnavailable (${limit}) is used up by pods that do not go: ${named.join('; ')}${more}; ${remedyText(stuck)}`
  return { reason: 'PodsStuck', message, nodes }
}

/** When (epoch ms) the next terminating pod will count as stuck, if it stays; null where none will. */
export function nextStuckMs({ fleet, nowMs }: ReleaseView): number | null {
  const moments = terminatingPerBlock(fleet, null).flat().map(stuckFromMs)
  const next = Math.min(...moments.filter((ms) => ms > nowMs))
  return Number.isFinite(next) ? next : null
}

interface TerminatingPod {
  readonly pod: FleetPod
  /** Its node answers. */
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
  if (keptBy !== undefined) return `by its finalizers ${keptBy.join(', ')}`
  return ready ? 'which its kubelet does not end' : 'which is NotReady'
}

function remedyText(stuck: readonly TerminatingPod[]): string {
  const remedies = [
    stuck.some(({ pod }) => pod.keptBy !== undefined) ? 'remove the finalizers once their work is done' : '',
    stuck.some(({ pod, ready }) => pod.keptBy === undefined && !ready) ? 'bring the nodes back, or remove them for good' : '',
    stuck.some(({ pod, ready }) => pod.keptBy === undefined && ready) ? 'see why the kubelet does not end the pod' : '',
  ]
  return remedies.filter((remedy) => remedy !== '').join('; ')
}
