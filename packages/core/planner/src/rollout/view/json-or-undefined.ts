import { readJson } from '@tranche/kube-types'

/** @returns the value of a text that anyone may have written; undefined without a text, and where it is invalid JSON */
export function jsonOrUndefined(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return readJson(text)
  } catch {
    return undefined
  }
}
