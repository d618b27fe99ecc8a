/** One operation of a JSON Patch. @see RFC 6902 */
export type JsonPatchOperation =
  | { readonly op: 'test' | 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

/**
 * Builds the path of a field and escapes its keys: `jsonPointer('metadata', 'annotations', 'tranche.dev/paused')` is
 * `/metadata/annotations/tranche.dev~1paused`.
 *
 * @param tokens field names, array indexes, or `-` for the end of an array; none is the whole object
 * @see RFC 6901
 */
export function jsonPointer(...tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Applies the patch only if `path` holds exactly `value`; otherwise the server returns 422 and changes nothing. */
export function testOp(path: string, value: unknown): JsonPatchOperation {
  return { op: 'test', path, value }
}

/** Sets a field, present or not, or inserts into an array. The parent object must exist. */
export function addOp(path: string, value: unknown): JsonPatchOperation {
  return { op: 'add', path, value }
}

/** Sets an existing field; returns 422 if it is missing. */
export function replaceOp(path: string, value: unknown): JsonPatchOperation {
  return { op: 'replace', path, value }
}

/** Removes an existing field; returns 422 if it is missing. */
export function removeOp(path: string): JsonPatchOperation {
  return { op: 'remove', path }
}

/** Applies the patch only to the object with this uid, not to another of the same name. */
export function testUid(uid: string): JsonPatchOperation {
  return testOp('/metadata/uid', uid)
}

/** Applies the patch only to this version of the object. */
export function testResourceVersion(resourceVersion: string): JsonPatchOperation {
  return testOp('/metadata/resourceVersion', resourceVersion)
}
