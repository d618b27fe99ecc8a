import type { Rollout, ActionType } from '@tranche/api-schema'

/**
 * The command that requests an action on a Rollout, for use in messages.
 *
 * @returns such as `tranche retry node-agent -n demo`
 */
export function commandText({ metadata }: Rollout, type: ActionType, ...flags: readonly string[]): string {
  return ['tranche', type, metadata.name, '-n', metadata.namespace ?? 'default', ...flags].join(' ')
}

/** @returns the command that releases a blocked revision anyway; with the choice if several are blocked */
export function retryHeldText(rollout: Rollout, held: readonly string[]): string {
  const [only = '', ...others] = held
  const command = commandText(rollout, 'retry', '--revision')
  return others.length === 0 ? `${command} ${only}` : `${command} with one of ${held.join(', ')}`
}
