import type { StatusCause } from '../../model/status-error.ts'
import type { JsonSchema, ValidationRule } from '../../model/json-schema.ts'
import { compileRules } from './compile-rules.ts'
import { isObject } from '../../model/json.ts'

/** Maximum cost of one rule, and of all rules of a schema, for the largest objects that the schema allows. */
const MOST_STEPS = 10_000_000
const MOST_STEPS_IN_ALL = 100_000_000
const LARGEST_REQUEST = 3 * 1024 * 1024
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** @returns errors of the rules in a CustomResourceDefinition's schema: they must compile, and stay within the cost limit */
export function ruleCauses(schema: JsonSchema, path: string): readonly StatusCause[] {
  const formal = formalCauses(schema, path)
  if (formal.length > 0) return formal
  const walk: Walk = { causes: [], costs: [] }
  checkRules(schema, { path, isRoot: true, times: 1, uncorrelatable: undefined }, walk)
  const total = walk.costs.reduce((sum, { steps }) => sum + steps, 0)
  if (total <= MOST_STEPS_IN_ALL) return walk.causes
  const why = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
  const dearest = walk.costs.filter(({ steps }) => steps > MOST_STEPS_IN_ALL / 100).slice(0, 4)
  const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
  return [...walk.causes, ...dearest.map(({ field }) => forbidden(field, why)), forbidden(path, costText(name, total, MOST_STEPS_IN_ALL))]
}

interface Walk {
  readonly causes: StatusCause[]
  readonly costs: { readonly field: string; readonly steps: number }[]
}

interface At {
  readonly path: string
  readonly isRoot: boolean
  /** Maximum number of such values in one object. */
  readonly times: number
  /** Enclosing list whose items cannot be correlated. */
  readonly uncorrelatable: string | undefined
}

function formalCauses(schema: JsonSchema, path: string): readonly StatusCause[] {
  const own = (schema['x-kubernetes-validations'] ?? []).flatMap((rule, index) => {
    const field = `${path}.x-kubernetes-validations[${index}]`
    return [
      ...((rule.rule ?? '').trim() === ''
        ? [{ reason: 'FieldValueRequired', field: `${field}.rule`, message: 'Required value: rule is not specified' }]
        : []),
      ...(rule.reason === undefined || REASONS.includes(rule.reason) ? [] : [notSupported(`${field}.reason`, rule.reason)]),
      ...(rule.message?.includes('\n') === true
        ? [invalid(`${field}.message`, JSON.stringify(rule.message), 'message must not contain line breaks')]
        : []),
      ...(rule.fieldPath && !leadsSomewhere(schema, rule.fieldPath)
        ? [invalid(`${field}.fieldPath`, JSON.stringify(rule.fieldPath), 'must be a valid path')]
        : []),
    ]
  })
  return [...own, ...childrenOf(schema, path).flatMap(([child, at]) => formalCauses(child, at))]
}

function checkRules(schema: JsonSchema, at: At, walk: Walk): void {
  const rules = schema['x-kubernetes-validations'] ?? []
  for (const [index, outcome] of compileRules(schema, at.isRoot).entries()) {
    const rule = rules[index]!
    const field = `${at.path}.x-kubernetes-validations[${index}]`
    if (!outcome.ok) {
      walk.causes.push(invalid(`${field}.${outcome.fault.kind}`, ruleText(rule), outcome.fault.error))
      continue
    }
    const steps = outcome.cost * at.times
    walk.costs.push({ field: `${field}.rule`, steps })
    if (steps > MOST_STEPS) walk.causes.push(forbidden(`${field}.rule`, costText('estimated rule cost', steps, MOST_STEPS)))
    const { usesOldSelf } = outcome.compiled
    if (usesOldSelf && at.uncorrelatable !== undefined)
      walk.causes.push(invalid(`${field}.rule`, JSON.stringify(rule.rule), uncorrelatableText(at.uncorrelatable)))
    if (!usesOldSelf && rule.optionalOldSelf !== undefined)
      walk.causes.push(invalid(`${field}.optionalOldSelf`, String(rule.optionalOldSelf), 'may not be set if oldSelf is not used in rule'))
  }
  for (const [child, path, isMany] of childrenOf(schema, at.path)) {
    const isKnownAgain = schema.type !== 'array' || schema['x-kubernetes-list-type'] === 'map'
    const uncorrelatable = at.uncorrelatable ?? (isKnownAgain ? undefined : at.path)
    const isRoot = child['x-kubernetes-embedded-resource'] === true
    checkRules(child, { path, isRoot, times: at.times * (isMany ? mostItems(schema) : 1), uncorrelatable }, walk)
  }
}

/** Subschemas with their paths, and whether an object contains several values of each. */
function childrenOf(schema: JsonSchema, path: string): readonly (readonly [JsonSchema, string, boolean])[] {
  return [
    ...(isObject(schema.additionalProperties) ? [[schema.additionalProperties, `${path}.additionalProperties`, true] as const] : []),
    ...Object.entries(schema.properties ?? {}).map(([name, property]) => [property, `${path}.properties[${name}]`, false] as const),
    ...(schema.items === undefined ? [] : [[schema.items, `${path}.items`, true] as const]),
  ]
}

function mostItems({ maxItems, maxProperties }: JsonSchema): number {
  return maxItems ?? maxProperties ?? LARGEST_REQUEST / 3
}

function leadsSomewhere(schema: JsonSchema, fieldPath: string): boolean {
  let at: JsonSchema | undefined = schema
  for (const [, name, key] of fieldPath.matchAll(/\.([^.[\]]+)|\['((?:[^'\\]|\\.)+)'\]/g)) {
    const own: JsonSchema | undefined = at.properties?.[name ?? key!]
    const additional: boolean | JsonSchema | undefined = at.additionalProperties
    const next: JsonSchema | undefined = own ?? (isObject(additional) && key !== undefined ? additional : undefined)
    if (next === undefined) return false
    at = next
  }
  return /^(?:\.[^.[\]]+|\['(?:[^'\\]|\\.)+'\])+$/.test(fieldPath)
}

function costText(name: string, steps: number, most: number): string {
  const factor = steps / most
  const text = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`
  return `${name} exceeds budget by factor of ${text} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}

function uncorrelatableText(path: string): string {
  return `oldSelf cannot be used on the uncorrelatable portion of the schema within ${path}`
}

/** Rule in the format of the API server's quote. */
function ruleText(rule: ValidationRule): string {
  const parts = {
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  }
  return JSON.stringify(parts).replace(/[<>&]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)
}

function invalid(field: string, value: string, why: string): StatusCause {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${value}: ${why}` }
}

function forbidden(field: string, why: string): StatusCause {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${why}` }
}

function notSupported(field: string, value: string): StatusCause {
  const supported = REASONS.map((reason) => JSON.stringify(reason)).join(', ')
  return { reason: 'FieldValueNotSupported', field, message: `Unsupported value: ${JSON.stringify(value)}: supported values: ${supported}` }
}
