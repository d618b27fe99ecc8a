import { isSameJson } from '@tranche/kube-types'

/**
 * Whether two values are equal as JSON. Compared whole and not by the fields that we know, so that a change in a field that
 * nobody here has heard of is a change. A null `creationTimestamp`, which some clients send inside templates, counts as absent.
 */
export function isSameAsSent(a: unknown, b: unknown): boolean {
  return isSameJson(a, b, (key, member) => key !== 'creationTimestamp' || member !== null)
}
