import { isSameJson } from '@tranche/kube-types'

/**
 * @param none what stands for undefined
 * @returns whether two parts of objects differ; versions of an object share what has not changed, so that most end at once
 */
export function isChanged(now: object | undefined, before: object | undefined, none: object = {}): boolean {
  return !isSameJson(now ?? none, before ?? none)
}
