/**
 * What is written to an object leaves its status as it is. What stands there is nobody's fault who writes now, and may be a newer
 * version's, whose fields we do not know.
 */
export function withoutStatus<T extends { readonly status?: unknown }>(object: T): Omit<T, 'status'> {
  const { status: _asItIs, ...written } = object
  return written
}
