import type { GuardedOperation } from './action.ts'

/**
 * Operations of a JSON Patch that apply only where `path` holds `value` still: one test, but for integers beyond 2^53, which a client reads as
 * another number than the API server has stored. Of these they ask only that the member is there: it is copied onto itself.
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
