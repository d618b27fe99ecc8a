import type { Rollout } from '@tranche/api-schema'
import { recordedActionsOf, observedChangesOf } from '@tranche/actions'

/** User, time and reason of the present pause, as far as recorded; undefined when the Rollout is not paused. */
export function pauseText(rollout: Rollout): string | undefined {
  if (rollout.spec.strategy.paused !== true) return undefined
  const asked = recordedActionsOf(rollout).findLast(({ type }) => type === 'pause' || type === 'resume')
  const seen = observedChangesOf(rollout).findLast(({ type }) => type === 'pause' || type === 'resume')
  if (seen?.type === 'pause' && (asked === undefined || asked.at < seen.at))
    return `by spec.strategy.paused${seen.manager === undefined ? '' : `, which ${seen.manager} set`} at ${seen.at}; the user is not recorded`
  if (asked?.type !== 'pause') return 'by spec.strategy.paused; the user is not recorded'
  return `requested by ${asked.by} at ${asked.at}${asked.reason === undefined ? '' : `: ${asked.reason}`}`
}
