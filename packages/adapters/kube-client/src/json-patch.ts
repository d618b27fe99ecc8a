/** One operation of a JSON Patch. @see RFC 6902 */
export type JsonPatchOperation =
  | { readonly op: 'test' | 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

/**
 * Builds the path of a field, escaping what stands in keys: `jsonPointer('metadata', 'annotations', 'tranche.dev/paused')`
 * is `/metadata/annotations/tranche.dev~1paused`.
 *
 * @param tokens field names, array indexes, or `-` for the end of an array; none is the whole object
 * @see RFC 6901
 */
export function jsonPointer(...tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The patch applies only where `path` holds exactly `value`; otherwise the server answers 422 and changes nothing. */
export function testOp(path: string, value: unknown): JsonPatchOperation {
  return { op: 'test', path, value }
}

/** Sets a field, whether or not it is there, or inserts into an array. The object around it must exist. */
export function addOp(path: string, value: unknown): JsonPatchOperation {
  return { op: 'add', path, value }
}

/** Sets a field that is there; where it is not, the server answers 422. */
export function replaceOp(path: string, value: unknown): JsonPatchOperation {
  return { op: 'replace', path, value }
}

/** Removes a field that is there; where it is not, the server answers 422. */
export function removeOp(path: string): JsonPatchOperation {
  return { op: 'remove', path }
}

/** The patch applies only to this very object, not to another of the same name. */
export function testUid(uid: string): JsonPatchOperation {
  return testOp('/metadata/uid', uid)
}

/** The patch applies only to this version of the object. */
export function testResourceVersion(resourceVersion: string): JsonPatchOperation {
  return testOp('/metadata/resourceVersion', resourceVersion)
}
