import { valueIn } from '@tranche/kube-types'
import type { StatusCause } from '../../model/status-error.ts'
import { isObject, jsonEqual } from '../../model/json.ts'
import { childPath } from '../../model/json-schema.ts'
import type { CompiledRule, RuleTree } from './compile-rules.ts'

/** Value, its previous value, and its path. */
interface Placed {
  readonly value: unknown
  /** Undefined when there was no previous value, or when it cannot be correlated. */
  readonly old: unknown
  readonly path: string
}

/**
 * @param old stored object, on updates: an unchanged value is not rejected by rules without `oldSelf`
 * @returns one cause per violated rule, in the order of the schema
 */
export function evaluateRules(tree: RuleTree, value: unknown, old: unknown): readonly StatusCause[] {
  const causes: StatusCause[] = []
  evaluateTree(tree, { value, old, path: '' }, causes)
  return causes
}

function evaluateTree(tree: RuleTree, placed: Placed, causes: StatusCause[]): void {
  const { value, old, path } = placed
  if (value === undefined || value === null) return
  const isUnchanged = old !== undefined && jsonEqual(value, old)
  for (const rule of tree.rules) {
    if (isUnchanged && !rule.usesOldSelf) continue
    const cause = ruleCause(rule, tree, placed)
    if (cause !== undefined) causes.push(cause)
  }
  if (Array.isArray(value)) evaluateItems(tree, value, placed, causes)
  if (!isObject(value)) return
  const before = isObject(old) ? old : {}
  for (const [name, below] of tree.properties)
    evaluateTree(below, { value: valueIn(value, name), old: valueIn(before, name), path: childPath(path, name) }, causes)
  if (tree.items === undefined) return
  for (const [name, item] of Object.entries(value))
    evaluateTree(tree.items, { value: item, old: before[name], path: `${path}[${name}]` }, causes)
}

/** List items are correlated by their keys; items of other lists cannot be correlated. */
function evaluateItems({ items, schema }: RuleTree, values: readonly unknown[], { old, path }: Placed, causes: StatusCause[]): void {
  if (items === undefined) return
  const keys = schema['x-kubernetes-list-type'] === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : []
  const known = Array.isArray(old) && keys.length > 0 ? old : []
  for (const [index, value] of values.entries()) {
    const isTwin = (other: unknown): boolean => isObject(other) && isObject(value) && keys.every((key) => jsonEqual(other[key], value[key]))
    evaluateTree(items, { value, old: known.find(isTwin), path: `${path}[${index}]` }, causes)
  }
}

function ruleCause({ rule, program, message, usesOldSelf }: CompiledRule, { schema }: RuleTree, placed: Placed): StatusCause | undefined {
  const { value, old, path } = placed
  const isOptional = rule.optionalOldSelf === true
  if (usesOldSelf && old === undefined && !isOptional) return undefined
  const variables = { self: value, oldSelf: old }
  const result = program.evaluate(variables)
  if (!result.ok)
    return invalid(path, JSON.stringify(schema.type ?? ''), failureText(result.error, rule.message?.trim() || rule.rule.trim()))
  if (result.value === true) return undefined
  const own = message?.evaluate(variables)
  const said = own?.ok === true && typeof own.value === 'string' && isMessage(own.value) ? own.value : undefined
  const says = said ?? (rule.message || `failed rule: ${rule.rule.trim()}`)
  const at = rule.fieldPath ? `${path}${rule.fieldPath}`.replace(/^\./, '') : path
  return causeFor(rule.reason ?? 'FieldValueInvalid', at, schema.type === 'object' || schema.type === 'array' ? undefined : value, says)
}

/** An empty or multi-line message is not used. */
function isMessage(text: string): boolean {
  return text.trim() !== '' && !text.includes('\n') && text.length <= 5 * 1024
}

function failureText(error: string, rule: string): string {
  if (error.startsWith('no such overload'))
    return `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`
  if (error.startsWith('operation cancelled'))
    return `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule}`
  return `${error} evaluating rule: ${rule}`
}

function invalid(field: string, value: string, says: string): StatusCause {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${value}: ${says}` }
}

function causeFor(reason: string, field: string, value: unknown, says: string): StatusCause {
  const text = value === undefined ? '' : `: ${JSON.stringify(value)}`
  switch (reason) {
    case 'FieldValueRequired':
      return { reason, field, message: `Required value: ${says}` }
    case 'FieldValueForbidden':
      return { reason, field, message: `Forbidden: ${says}` }
    case 'FieldValueDuplicate':
      return { reason, field, message: `Duplicate value${text}` }
    default:
      return { reason, field, message: `Invalid value${text}: ${says}` }
  }
}
