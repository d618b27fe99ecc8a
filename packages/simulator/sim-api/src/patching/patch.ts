import { applyPatch as applyJsonPatch, type Operation, Pointer } from 'rfc6902'
import type { ApiObject } from '../model/client.ts'
import { ApiStatusError } from '../model/status-error.ts'
import { DEEPEST, isDeeperThan, isObject, type JsonObject, setField, thaw } from '../model/json.ts'
import { badRequest, unsupportedPatch } from '../model/errors.ts'
import type { PatchType } from '../model/request.ts'
import type { ResourceDefinition } from '../model/resource-definition.ts'
import { strategicMerge } from './strategic-merge.ts'

/**
 * Applies a patch to an object.
 *
 * As in API servers, a JSON Patch may replace a missing field (it adds it) and test it for null.
 *
 * @throws {ApiStatusError} 400 for a malformed patch, and 415 for a format that the resource does not support. It is 422 when an
 * operation of a JSON Patch fails or the result is not an object, and 500 for a strategic merge patch that cannot be merged.
 */
export function applyPatch(definition: ResourceDefinition, object: ApiObject, format: MergedPatch, patch: unknown): JsonObject {
  const patched = patchedValue(definition, object, format, patch)
  if (!isObject(patched)) throw unprocessable('the patch left no object')
  return patched
}

/** Formats without field ownership. */
export type MergedPatch = Exclude<PatchType, 'apply-patch'>

const MOST_OPERATIONS = 10_000
/** Maximum number of characters that copies in one patch may read in total, because each may double what the next one copies. */
const MOST_COPIED = 64 * 1024 * 1024

function patchedValue(definition: ResourceDefinition, object: ApiObject, format: MergedPatch, patch: unknown): unknown {
  switch (format) {
    case 'json-patch':
      return jsonPatched(object, patch)
    case 'merge-patch':
      if (!isObject(patch)) throw badRequest('the merge patch is no JSON object')
      return mergePatched(object, patch)
    case 'strategic-merge-patch':
      if (definition.strategy.mergeKeys === null) throw unsupportedPatch(['json-patch', 'merge-patch'])
      if (!isObject(patch)) throw badRequest('the strategic merge patch is no JSON object')
      return strategicMerge(object, patch, definition.strategy.mergeKeys)
    default:
      return format satisfies never
  }
}

function jsonPatched(object: ApiObject, patch: unknown): unknown {
  if (!Array.isArray(patch) || !patch.every(isOperation)) throw badRequest('the JSON patch is malformed: it must be a list of operations')
  if (patch.length > MOST_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${patch.length}`
    throw new ApiStatusError(413, 'RequestEntityTooLarge', message)
  }
  const target = { root: thaw(object) }
  let copied = 0
  for (const operation of patch) {
    if (!knownOperations.has(operation.op)) throw unprocessable(`${String(operation.op)} is no operation of a JSON patch`)
    if (operation.op === 'copy') copied = withinCopyLimit(copied + JSON.stringify(target.root).length)

    const [failure] = applyOperation(target, asServersRead(target.root, operation))
    if (failure != null)
      throw unprocessable(`${operation.op} operation of the JSON patch at ${operation.path} does not apply: ${failure.message}`)
  }
  if (isDeeperThan(DEEPEST, target.root)) throw badRequest('the object is nested too deeply')
  return target.root
}

function withinCopyLimit(characters: number): number {
  if (characters <= MOST_COPIED) return characters
  const message = `the copy operations of the JSON patch copy more than ${MOST_COPIED} characters`
  throw new ApiStatusError(413, 'RequestEntityTooLarge', message)
}

function applyOperation(target: { readonly root: unknown }, operation: Operation): readonly (Error | null)[] {
  try {
    return applyJsonPatch(target, [lenient(target, belowRoot(operation))])
  } catch (error) {
    return [error as Error]
  }
}

/** A missing field can be replaced, and tests as null. */
function lenient(target: { readonly root: unknown }, operation: Operation): Operation {
  if (operation.op !== 'replace' && operation.op !== 'test') return operation
  const { parent, key, value } = Pointer.fromJSON(operation.path).evaluate(target)
  if (!isObject(parent) || value !== undefined || Object.hasOwn(parent, key)) return operation
  if (operation.op === 'replace') return { ...operation, op: 'add' }
  return operation.value === null ? { op: 'test', path: '', value: target } : operation
}

/** A wrapper root makes the whole document replaceable like any other value. */
function belowRoot(operation: Operation): Operation {
  return { ...operation, path: `/root${operation.path}`, ...('from' in operation && { from: `/root${operation.from}` }) } as Operation
}

const knownOperations = new Set<unknown>(['add', 'remove', 'replace', 'move', 'copy', 'test'])

/** API servers are more lenient than RFC 6902 about a missing field of an object: it can be replaced, and it is null. */
function asServersRead(root: unknown, operation: Operation): Operation {
  if (operation.op !== 'replace' && operation.op !== 'test') return operation
  if (!lacksField(root, operation.path)) return operation
  if (operation.op === 'replace') return { op: 'add', path: operation.path, value: operation.value as unknown }
  return operation.value === null ? { op: 'test', path: '', value: root } : operation
}

/** @returns whether the pointer names a missing field of an existing object */
function lacksField(root: unknown, path: string): boolean {
  const names = path
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  const field = names.pop()
  let holder: unknown = root
  for (const name of names) holder = isObject(holder) || Array.isArray(holder) ? (holder as Record<string, unknown>)[name] : undefined
  return field !== undefined && isObject(holder) && !Object.hasOwn(holder, field)
}

function isOperation(operation: unknown): operation is Operation {
  if (!isObject(operation) || !isPointer(operation['path'])) return false
  switch (operation['op']) {
    case 'add':
    case 'replace':
    case 'test':
      return Object.hasOwn(operation, 'value')
    case 'move':
    case 'copy':
      return isPointer(operation['from'])
    default:
      return typeof operation['op'] === 'string'
  }
}

function isPointer(value: unknown): boolean {
  return typeof value === 'string' && (value === '' || value.startsWith('/'))
}

/** @see RFC 7386 */
function mergePatched(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field]
    else setField(merged, field, mergePatched(Object.hasOwn(merged, field) ? merged[field] : undefined, value))
  }
  return merged
}

function unprocessable(message: string): ApiStatusError {
  return new ApiStatusError(422, 'Invalid', message, {})
}
