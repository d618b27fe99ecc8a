import type { Rollout, RolloutAction } from '@tranche/api-schema'

/**
 * The command that asks for an action on a Rollout, as messages name it to whom they ask to act.
 *
 * @returns such as `tranche retry node-agent -n demo`
 */
export function commandText({ metadata }: Rollout, type: RolloutAction['type'], ...flags: readonly string[]): string {
  return ['tranche', type, metadata.name, '-n', metadata.namespace ?? 'default', ...flags].join(' ')
}
