import { rawNumber } from '@tranche/kube-types'
import { type ResourcePath, resourcePaths } from './resource-path.ts'

/** Parses a text as JSON. @throws {SyntaxError} if it is not JSON */
export type ParseJson = (text: string) => unknown

/**
 * Parser for objects of a resource. Pod templates have fields with 64 bits, such as `tolerationSeconds`, and Tranche puts templates back. A
 * number of JavaScript holds 53 bits of an integer: a template would come back with another number, or with one that the API server rejects.
 */
export function parserFor({ group }: ResourcePath): ParseJson {
  return group === resourcePaths.daemonSets.group ? parseExactly : JSON.parse
}

const LONG_INTEGER = /[:[,]\s*-?\d{16}/

/**
 * Keeps integers that a number does not hold as {@link rawNumber}. The search makes the slow parse a rare one.
 */
function parseExactly(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text)
  try {
    return JSON.parse(text, keepDigits as Parameters<typeof JSON.parse>[1])
  } catch (error) {
    // The parser calls the function from the inside to the outside, and so may nest less deep than without one.
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value
  return rawNumber(source)
}
