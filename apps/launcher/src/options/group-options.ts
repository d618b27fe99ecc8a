import { misplaced, parseNamespace, textOf, textsOf, type Values } from '@tranche/cli'
import type { GroupSettings } from '@tranche/controller'

/**
 * Reads where the Leases of groups are; undefined where policies may not name a group.
 *
 * @throws {AppError} OPTION_INVALID
 */
export function toGroupOptions(values: Values): GroupSettings | undefined {
  const namespace = textOf(values, 'groupNamespace')
  const shared = [...new Set(textsOf(values, 'sharedGroupNamespace'))]
  for (const name of shared) parseNamespace('--shared-group-namespace', name)
  if (namespace === undefined && shared.length > 0)
    throw misplaced('--shared-group-namespace', 'requires --group-namespace', 'name a namespace for the Leases of groups')
  return namespace === undefined ? undefined : { namespace: parseNamespace('--group-namespace', namespace), shared }
}
