import type { Rollout } from '@tranche/api-schema'
import { recordedActionsOf, observedChangesOf } from '@tranche/actions'

/** Who has asked for the pause that stands, when, and why, as far as the records say; undefined where nothing is paused. */
export function pauseText(rollout: Rollout): string | undefined {
  if (rollout.spec.strategy.paused !== true) return undefined
  const asked = recordedActionsOf(rollout).findLast(({ type }) => type === 'pause' || type === 'resume')
  const seen = observedChangesOf(rollout).findLast(({ type }) => type === 'pause' || type === 'resume')
  if (seen?.type === 'pause' && (asked === undefined || asked.at < seen.at))
    return `by spec.strategy.paused${seen.manager === undefined ? '' : `, which ${seen.manager} set`} at ${seen.at}, without a record of who asked for it`
  if (asked?.type !== 'pause') return 'by spec.strategy.paused, without a record of who asked for it'
  return `asked for by ${asked.by} at ${asked.at}${asked.reason === undefined ? '' : `: ${asked.reason}`}`
}
