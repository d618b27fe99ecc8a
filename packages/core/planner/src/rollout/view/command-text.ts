import type { Rollout, ActionType } from '@tranche/api-schema'
import { PINNED_CONFIG_ANNOTATION } from '@tranche/config'

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

/** @returns what releases a revision that is no longer blocked: its rollback has brought another template back, or an earlier content of config */
export function releaseAgainText({ status }: Rollout): string {
  const isConfig = status?.conditions?.some(({ type, reason }) => type === 'ConfigUnversioned' && reason === 'RolledBack') === true
  const config = `, or remove the annotation ${PINNED_CONFIG_ANNOTATION} from the template if only config has changed`
  return `to release it, apply its template again${isConfig ? config : ''}`
}
