import type { Judge, JudgeParts } from './judge-parts.ts'

const BOUND = 'tranche.dev/rollout'

/** G9: no deletion is accepted between the acknowledgement of a stop and its lift. */
export function createStopJudge({ breach }: JudgeParts): Judge {
  return {
    onDeletion({ daemonSet, stops, pod, atMs }) {
      const stop = stops.acknowledged({ rollout: daemonSet.latest?.annotations?.[BOUND], flight: daemonSet.orders.flight })
      if (stop !== null)
        breach({ guarantee: 'G9', atMs, node: pod.node, text: `the stop (${stop}) was acknowledged and had not been lifted` })
    },
  }
}
