import { type CelProgram, type CelType, createCelEnvironment } from '@tranche/cel'
import { createKeptPrograms } from '../kept-programs.ts'

const dyn: CelType = { kind: 'dyn' }
const names = { object: dyn, oldObject: dyn, request: dyn, params: dyn, namespaceObject: dyn, variables: dyn }
const messages = { JSONPatch: ['op', 'from', 'path', 'value'] }

/** Required result type of a policy's expression. */
export type ExpressionKind = 'bool' | 'string' | 'list<JSONPatch>' | 'anything'

/** @returns why an expression is invalid; undefined when it is valid */
export function expressionFault(expression: string, kind: ExpressionKind): string | undefined {
  const compiled = programOf(expression)
  if (typeof compiled === 'string') return compiled
  if (kind === 'anything' || compiled.type === 'dyn' || compiled.type === kind) return undefined
  if (kind === 'list<JSONPatch>')
    return isPatchList(compiled.type) ? undefined : `must evaluate to list(JSONPatch) but got ${celName(compiled.type)}`
  return `must evaluate to ${kind} but got ${celName(compiled.type)}`
}

/**
 * Evaluates a policy's expression, which is compiled once.
 *
 * @param variables `object`, `oldObject`, `request`, `params`, `namespaceObject`, `variables`
 * @throws {Error} in the words of the real API server
 */
export function evaluate(expression: string, variables: Readonly<Record<string, unknown>>): unknown {
  const program = programOf(expression)
  const result = typeof program === 'string' ? { ok: false as const, error: program } : program.evaluate(variables)
  if (!result.ok) throw new Error(`expression '${expression}' resulted in error: ${result.error}`)
  return result.value
}

/** @returns value of an expression as JSON; optional values and values that JSON lacks become null */
export function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [String(key), toJson(item)]))
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.getPrototypeOf(value) === Object.prototype
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item)]))
    : null
}

/** Shared by all simulators: a program has no state, and each simulator compiles the same policies. */
const programOf = createKeptPrograms(compile)

function compile(expression: string): CelProgram | string {
  const compiled = createCelEnvironment(names, messages).compile(expression)
  return compiled.ok ? compiled.program : compiled.error
}

/** The CEL library represents a JSONPatch as a map. */
function isPatchList(type: string): boolean {
  return type === 'list' || type === 'list<dyn>' || type.startsWith('list<map<string')
}

function celName(type: string): string {
  return type.replaceAll('<', '(').replaceAll('>', ')')
}
