/** One operation of a JSON Patch. @see RFC 6902 */
interface PatchOperation {
  readonly op: 'test' | 'add' | 'replace' | 'remove' | 'copy'
  readonly path: string
  readonly value?: unknown
  readonly from?: string
}

/**
 * Applies a JSON Patch (RFC 6902) to a copy. Supports test, add, replace and remove on object members; all but add on list elements; copies
 * of a member onto itself.
 *
 * @returns null when a test fails or a path does not exist, like an API server's 422
 */
export function applyPatch<T extends object>(target: T, patch: readonly PatchOperation[]): T | null {
  const copy = structuredClone(target)
  return patch.every((operation) => applied(copy as Record<string, unknown>, operation)) ? copy : null
}

function applied(root: Record<string, unknown>, operation: PatchOperation): boolean {
  const path = operation.path.slice(1).split('/')
  const keys = path.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = keys.pop() ?? ''
  let parent: unknown = root
  for (const key of keys) parent = (parent as Record<string, unknown> | undefined)?.[key]
  if (typeof parent !== 'object' || parent === null) return false
  const members = parent as Record<string, unknown>
  if (operation.op === 'test') return JSON.stringify(members[last]) === JSON.stringify(operation.value)
  if (operation.op !== 'add' && !Object.hasOwn(members, last)) return false
  if (operation.op === 'copy') return operation.from === operation.path
  if (operation.op === 'remove' && Array.isArray(parent)) return parent.splice(Number(last), 1).length === 1
  if (operation.op === 'remove') return delete members[last]
  members[last] = structuredClone(operation.value)
  return true
}
