import { isSameJson } from '@tranche/kube-types'

/**
 * @param none value that stands for undefined
 * @returns whether two parts of objects differ; versions of an object share unchanged parts, so most comparisons end at once
 */
export function isChanged(now: object | undefined, before: object | undefined, none: object = {}): boolean {
  return !isSameJson(now ?? none, before ?? none)
}
