/**
 * Removes the status before checks: a write to an object does not change it. The client of this write is not responsible for the
 * stored status, which may have unknown fields of a newer version.
 */
export function withoutStatus<T extends { readonly status?: unknown }>(object: T): Omit<T, 'status'> {
  const { status: _asItIs, ...written } = object
  return written
}
