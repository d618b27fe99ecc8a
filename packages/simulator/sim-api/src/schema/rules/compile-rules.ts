import { type CelProgram, type CelType, createCelEnvironment, estimatedCost } from '@tranche/cel'
import type { JsonSchema, ValidationRule } from '../../model/json-schema.ts'
import { celTypeOf } from './cel-types.ts'
import { isObject } from '../../model/json.ts'

/** Compiled rule. */
export interface CompiledRule {
  readonly rule: ValidationRule
  readonly program: CelProgram
  readonly message: CelProgram | undefined
  readonly usesOldSelf: boolean
}

/** Rules of a schema and of its subschemas. */
export interface RuleTree {
  readonly schema: JsonSchema
  readonly rules: readonly CompiledRule[]
  readonly properties: ReadonlyMap<string, RuleTree>
  /** Rules of list items, or of map values. */
  readonly items: RuleTree | undefined
}

/** Error of one rule, at one of its fields. */
export interface RuleFault {
  readonly kind: 'rule' | 'messageExpression'
  readonly error: string
}

/** Rule of a schema: compiled, or the error. */
export type RuleOutcome =
  | { readonly ok: true; readonly compiled: CompiledRule; readonly cost: number }
  | { readonly ok: false; readonly fault: RuleFault }

/** @returns rules of one schema, in order; they apply to the value that the schema describes */
export function compileRules(schema: JsonSchema, isRoot: boolean): readonly RuleOutcome[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  if (rules.length === 0) return []
  const self = celTypeOf(schema, isRoot)
  const plain = { self, oldSelf: self }
  const optional: Readonly<Record<string, CelType>> = { self, oldSelf: { kind: 'optional', of: self } }
  return rules.map((rule) => compileRule(rule, rule.optionalOldSelf === true ? optional : plain))
}

/** @returns compiled rules of a schema and all subschemas; undefined when there are none */
export function ruleTree(schema: JsonSchema, isRoot = true): RuleTree | undefined {
  const outcomes = compileRules(schema, isRoot)
  const rules = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.compiled] : []))
  const properties = new Map<string, RuleTree>()
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const below = ruleTree(property, property['x-kubernetes-embedded-resource'] === true)
    if (below !== undefined) properties.set(name, below)
  }
  const inner = schema.items ?? (isObject(schema.additionalProperties) ? schema.additionalProperties : undefined)
  const items = inner === undefined ? undefined : ruleTree(inner, inner['x-kubernetes-embedded-resource'] === true)
  return rules.length === 0 && properties.size === 0 && items === undefined ? undefined : { schema, rules, properties, items }
}

function compileRule(rule: ValidationRule, scope: Readonly<Record<string, CelType>>): RuleOutcome {
  const environment = createCelEnvironment(scope)
  const compiled = environment.compile(rule.rule)
  if (!compiled.ok) return { ok: false, fault: { kind: 'rule', error: compiled.error } }
  const { program } = compiled
  if (program.type !== 'bool' && program.type !== 'dyn')
    return { ok: false, fault: { kind: 'rule', error: 'cel expression must evaluate to a bool' } }
  const usesOldSelf = program.uses('oldSelf')
  const cost = estimatedCost(program.root, scope)
  if (!rule.messageExpression) return { ok: true, compiled: { rule, program, message: undefined, usesOldSelf }, cost }
  const message = environment.compile(rule.messageExpression)
  if (!message.ok)
    return { ok: false, fault: { kind: 'messageExpression', error: `messageExpression compilation failed: ${message.error}` } }
  if (message.program.type !== 'string' && message.program.type !== 'dyn')
    return { ok: false, fault: { kind: 'messageExpression', error: 'messageExpression must evaluate to a string' } }
  return { ok: true, compiled: { rule, program, message: message.program, usesOldSelf }, cost }
}
