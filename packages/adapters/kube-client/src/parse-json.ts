import { parseExactJson } from '@tranche/kube-types'
import { type ResourcePath, resourcePaths } from './resource-path.ts'

/** Parses a text as JSON. @throws {SyntaxError} if it is not JSON */
export type ParseJson = (text: string) => unknown

/**
 * Parser for objects of a resource. Pod templates have fields with 64 bits, such as `tolerationSeconds`, and Tranche puts templates back.
 * With a plain number, a template would come back with another value, or with one that the API server rejects.
 */
export function parserFor({ group }: ResourcePath): ParseJson {
  return group === resourcePaths.daemonSets.group ? parseExactJson : JSON.parse
}
