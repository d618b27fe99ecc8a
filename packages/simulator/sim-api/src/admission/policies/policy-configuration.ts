import type { ApiObject } from '../../model/client.ts'
import { type JsonObject, listOrEmpty, objectOrEmpty } from '../../model/json.ts'
import { type MatchCondition, readRule, selectorOf, type WebhookRule } from '../webhook-configuration.ts'

/** Match criteria of a policy or of a binding. @see admissionregistration/v1 MatchResources */
export interface MatchResources {
  readonly rules: readonly WebhookRule[]
  readonly excluded: readonly WebhookRule[]
  readonly matchPolicy: 'Exact' | 'Equivalent'
  readonly namespaceSelector: JsonObject | undefined
  readonly objectSelector: JsonObject | undefined
}

/** Parsed admission policy. @see admissionregistration/v1 MutatingAdmissionPolicy, ValidatingAdmissionPolicy */
export interface Policy {
  readonly name: string
  readonly match: MatchResources
  readonly matchConditions: readonly MatchCondition[]
  readonly variables: readonly MatchCondition[]
  readonly failurePolicy: 'Fail' | 'Ignore'
  /** Kind of the params objects. */
  readonly paramKind: { readonly apiVersion: string; readonly kind: string } | undefined
  /** Expressions that return a JSONPatch; empty in a validating policy. */
  readonly mutations: readonly string[]
  readonly validations: readonly PolicyValidation[]
  readonly reinvocationPolicy: 'Never' | 'IfNeeded'
}

/** One validation of a validating policy. */
export interface PolicyValidation {
  readonly expression: string
  readonly message: string
  readonly messageExpression: string
  readonly reason: string
}

/** Binding that enforces a policy. */
export interface PolicyBinding {
  readonly name: string
  readonly policyName: string
  /** Undefined: same as the policy. */
  readonly match: MatchResources | undefined
  readonly paramRef: JsonObject | undefined
  /** `Deny`, `Warn`, `Audit`; empty in the binding of a mutating policy. */
  readonly actions: readonly string[]
}

/** @returns parsed policy */
export function readPolicy({ metadata, ...object }: ApiObject): Policy {
  const spec = objectOrEmpty(object['spec'])
  const paramKind = objectOrEmpty(spec['paramKind'])
  return {
    name: metadata.name,
    match: readMatch(objectOrEmpty(spec['matchConstraints'])),
    matchConditions: readNamed(spec['matchConditions']),
    variables: readNamed(spec['variables']),
    failurePolicy: spec['failurePolicy'] === 'Ignore' ? 'Ignore' : 'Fail',
    paramKind:
      spec['paramKind'] === undefined ? undefined : { apiVersion: String(paramKind['apiVersion']), kind: String(paramKind['kind']) },
    mutations: listOrEmpty(spec['mutations']).map((entry) => String(objectOrEmpty(objectOrEmpty(entry)['jsonPatch'])['expression'])),
    validations: listOrEmpty(spec['validations']).map((entry) => readValidation(objectOrEmpty(entry))),
    reinvocationPolicy: spec['reinvocationPolicy'] === 'IfNeeded' ? 'IfNeeded' : 'Never',
  }
}

/** @returns parsed binding */
export function readBinding({ metadata, ...object }: ApiObject): PolicyBinding {
  const { policyName, matchResources, paramRef, validationActions } = objectOrEmpty(object['spec'])
  return {
    name: metadata.name,
    policyName: String(policyName),
    match: matchResources === undefined ? undefined : readMatch(objectOrEmpty(matchResources)),
    paramRef: paramRef === undefined ? undefined : objectOrEmpty(paramRef),
    actions: listOrEmpty(validationActions).map(String),
  }
}

function readMatch(match: JsonObject): MatchResources {
  return {
    rules: listOrEmpty(match['resourceRules']).map((rule) => readRule(objectOrEmpty(rule))),
    excluded: listOrEmpty(match['excludeResourceRules']).map((rule) => readRule(objectOrEmpty(rule))),
    matchPolicy: match['matchPolicy'] === 'Exact' ? 'Exact' : 'Equivalent',
    namespaceSelector: selectorOf(match['namespaceSelector']),
    objectSelector: selectorOf(match['objectSelector']),
  }
}

function readNamed(entries: unknown): readonly MatchCondition[] {
  return listOrEmpty(entries).map((entry) => {
    const { name, expression } = objectOrEmpty(entry)
    return { name: String(name), expression: String(expression) }
  })
}

function readValidation({ expression, message = '', messageExpression = '', reason = 'Invalid' }: JsonObject): PolicyValidation {
  return {
    expression: String(expression),
    message: String(message).trim(),
    messageExpression: String(messageExpression),
    reason: String(reason),
  }
}
