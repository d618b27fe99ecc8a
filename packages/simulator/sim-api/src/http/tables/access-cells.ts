import type { ApiObject } from '../../model/client.ts'
import { list, text } from './cells.ts'
import { statusOf } from './column.ts'
import { objectOrEmpty } from '../../model/json.ts'

/** @returns role that a binding grants: `ClusterRole/admin` */
export function roleText(binding: ApiObject): string {
  const { kind, name } = objectOrEmpty(binding['roleRef'])
  return `${text(kind)}/${text(name)}`
}

/** @returns function that lists the subjects of this kind of a binding; service accounts as `namespace/name` */
export function subjects(kind: 'User' | 'Group' | 'ServiceAccount'): (binding: ApiObject) => string {
  return (binding) =>
    list(binding['subjects'])
      .filter((subject) => subject['kind'] === kind)
      .map((subject) => (kind === 'ServiceAccount' ? `${text(subject['namespace'])}/${text(subject['name'])}` : text(subject['name'])))
      .join(', ')
}

/**
 * @param limits whether to show resources below `limits.`, or all others
 * @returns function that formats the usage of a quota: `pods: 3/10, secrets: 0/5`
 */
export function quotaText(limits: boolean): (quota: ApiObject) => string {
  return (quota) => {
    const { hard, used } = statusOf(quota)
    return Object.keys(objectOrEmpty(hard))
      .filter((resource) => resource.startsWith('limits.') === limits)
      .sort()
      .map((resource) => `${resource}: ${String(objectOrEmpty(used)[resource] ?? 0)}/${String(objectOrEmpty(hard)[resource])}`)
      .join(', ')
  }
}

/** @returns bound of a disruption budget as written, or `N/A` */
export function budgetText(value: unknown): string {
  return value === undefined ? 'N/A' : String(value)
}
