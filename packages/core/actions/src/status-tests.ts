import type { GuardedOperation } from './action.ts'

/**
 * Operations of a JSON Patch that succeed only if `path` still holds `value`. Integers beyond 2^53 cannot be tested, because a client
 * reads them rounded: for these a copy onto itself tests only that the member exists.
 */
export function testsOf(path: string, value: unknown): readonly GuardedOperation[] {
  if (!hasUnsafeInteger(value)) return [{ op: 'test', path, value }]
  if (typeof value !== 'object' || value === null) return [{ op: 'copy', from: path, path }]
  return Object.entries(value).flatMap(([key, member]) => testsOf(`${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, member))
}

function hasUnsafeInteger(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(hasUnsafeInteger)
}
