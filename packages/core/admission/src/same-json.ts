import { isSameJson } from '@tranche/kube-types'

/**
 * Whether two values are equal as JSON. Compares all fields, including unknown ones. A null `creationTimestamp`, which some clients
 * send inside templates, counts as absent.
 */
export function isSameAsSent(a: unknown, b: unknown): boolean {
  return isSameJson(a, b, (key, member) => key !== 'creationTimestamp' || member !== null)
}
