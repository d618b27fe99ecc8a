import type { Analysis, AnalysisReport } from '@tranche/api-schema'
import { analysisArguments, compileCondition } from '@tranche/validation'

/** A limit on one number of the measured values, as far as a condition consists of such limits. */
export interface ConditionLimit extends NonNullable<AnalysisReport['limit']> {
  /** Members and indexes that lead from `result` to the number; `every`: all items of the list. */
  readonly path: readonly (string | number)[] | 'every'
}

/**
 * Finds the limit in the conditions of an analysis, such as `result[0] < 0.5`: a measurement passes if its number is below 0.5. A
 * failureCondition counts with the opposite operator.
 *
 * @returns undefined without such a comparison with a constant, and with several different ones
 */
export function conditionLimit(analysis: Analysis): ConditionLimit | undefined {
  const known = limits.get(analysis)
  if (known !== undefined) return known.limit
  const limit = limitIn(analysis, analysis.successCondition) ?? opposite(limitIn(analysis, analysis.failureCondition))
  limits.set(analysis, { limit })
  return limit
}

/** Limits by object: objects from a watch never change, and compiling a condition takes milliseconds. */
const limits = new WeakMap<Analysis, { readonly limit: ConditionLimit | undefined }>()

type Operator = ConditionLimit['op']

const flipped: Readonly<Record<Operator, Operator>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }
const opposites: Readonly<Record<Operator, Operator>> = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' }

function opposite(limit: ConditionLimit | undefined): ConditionLimit | undefined {
  return limit && { ...limit, op: opposites[limit.op] }
}

/** Maximum length of a condition that is read, in characters: longer ones hold no simple limit, and are costly to compile. */
const LONGEST_CONDITION = 500

function limitIn({ prometheus, args = [] }: Analysis, condition: string | undefined): ConditionLimit | undefined {
  if (condition === undefined || condition.length > LONGEST_CONDITION) return undefined
  const compiled = compileCondition(condition, {
    source: prometheus === undefined ? 'http' : 'prometheus',
    args: [...new Set([...analysisArguments, ...args.map(({ name }) => name)])],
  })
  if (!compiled.ok) return undefined
  const values = new Map(args.map(({ name, value }) => [name, value]))
  const found = comparisonsIn(compiled.program.root, { pathOf, numberOf: (node) => numberOf(node, values) })
  const different = new Map(found.map((one) => [JSON.stringify(one), one]))
  return different.size === 1 ? found[0] : undefined
}

/** An expression node, as far as this file reads it. */
interface ExpressionNode {
  readonly op: string
  readonly args: unknown
}

interface Reading {
  /** @returns the path to the number that a node names; undefined for another expression */
  readonly pathOf: (node: unknown) => ConditionLimit['path'] | undefined
  /** @returns the value of a constant; undefined for another expression */
  readonly numberOf: (node: unknown) => number | undefined
}

/** Comparisons joined by `&&` and `||`, and those inside `result.all(x, …)`. */
function comparisonsIn(node: unknown, reading: Reading): readonly ConditionLimit[] {
  if (!isExpression(node)) return []
  const [left, right] = listOf(node.args)
  if (node.op === '&&' || node.op === '||') return [...comparisonsIn(left, reading), ...comparisonsIn(right, reading)]
  if (node.op === 'rcall') return comparisonsInAll(node, reading)
  if (!isOperator(node.op)) return []
  const { pathOf: path, numberOf: value } = reading
  const direct = comparison(path(left), node.op, value(right))
  return direct.length > 0 ? direct : comparison(path(right), flipped[node.op], value(left))
}

function comparison(path: ConditionLimit['path'] | undefined, op: Operator, value: number | undefined): readonly ConditionLimit[] {
  return path === undefined || value === undefined ? [] : [{ op, value, path }]
}

/** `result.all(x, x < 0.5)`: the limit of every item. */
function comparisonsInAll({ args }: ExpressionNode, reading: Reading): readonly ConditionLimit[] {
  const [name, receiver, given] = listOf(args)
  const [item, body] = listOf(given)
  if (name !== 'all' || reading.pathOf(receiver)?.length !== 0 || !isExpression(item)) return []
  const isItem = (node: unknown): boolean => isExpression(node) && node.op === 'id' && node.args === item.args
  return comparisonsIn(body, { ...reading, pathOf: (node) => (isItem(node) ? 'every' : undefined) })
}

/** The path of `result`, `result[0]` or `result.errors.rate`. */
function pathOf(node: unknown): readonly (string | number)[] | undefined {
  if (!isExpression(node)) return undefined
  if (node.op === 'id') return node.args === 'result' ? [] : undefined
  const [parent, key] = listOf(node.args)
  const path = node.op === '.' || node.op === '[]' ? pathOf(parent) : undefined
  const step = node.op === '.' ? key : constantOf(key)
  if (path === undefined) return undefined
  if (typeof step === 'bigint') return [...path, Number(step)]
  return typeof step === 'string' ? [...path, step] : undefined
}

/** A number, a negative one, or `double(args.limit)`. */
function numberOf(node: unknown, values: ReadonlyMap<string, string>): number | undefined {
  if (!isExpression(node)) return undefined
  if (node.op === '-_') {
    const positive = numberOf(node.args, values)
    return positive === undefined ? undefined : -positive
  }
  const value = node.op === 'call' ? argumentIn(node, values) : constantOf(node)
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined
}

function argumentIn({ args }: ExpressionNode, values: ReadonlyMap<string, string>): number | undefined {
  const [name, given] = listOf(args)
  const [member] = listOf(given)
  if ((name !== 'double' && name !== 'int') || !isExpression(member) || member.op !== '.') return undefined
  const [object, key] = listOf(member.args)
  const text = isExpression(object) && object.op === 'id' && object.args === 'args' ? values.get(String(key)) : undefined
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text)
  return Number.isFinite(value) ? value : undefined
}

function constantOf(node: unknown): unknown {
  return isExpression(node) && node.op === 'value' ? node.args : undefined
}

function isOperator(op: string): op is Operator {
  return Object.hasOwn(flipped, op)
}

function isExpression(value: unknown): value is ExpressionNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value
}

function listOf(args: unknown): readonly unknown[] {
  return Array.isArray(args) ? args : []
}
