import type { Rollout } from '@tranche/api-schema'
import { recordedActionsOf } from '@tranche/wishes'

/** Who has asked for the pause that stands, when, and why, as far as the record of wishes says; undefined where nothing is paused. */
export function pauseText(rollout: Rollout): string | undefined {
  if (rollout.spec.strategy.paused !== true) return undefined
  const last = recordedActionsOf(rollout).findLast(({ type }) => type === 'pause' || type === 'resume')
  if (last?.type !== 'pause') return 'by spec.strategy.paused, without a record of who asked for it'
  return `asked for by ${last.by} at ${last.at}${last.reason === undefined ? '' : `: ${last.reason}`}`
}
