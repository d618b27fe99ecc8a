import type { ApiObject } from '../model/client.ts'
import { expressionFault, type ExpressionKind } from '../admission/policies/policy-expressions.ts'
import { invalid, notSupported, required } from '../model/field-errors.ts'
import { labelSelectorCauses } from '../model/label-selector.ts'
import type { Strategy } from '../model/resource-definition.ts'
import type { StatusCause } from '../model/status-error.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { plainStrategy } from './strategies.ts'
import { oneOf, ruleCauses } from './webhook-strategies.ts'

/** MutatingAdmissionPolicies. JSON Patch mutations are supported; ApplyConfiguration is rejected. */
export const mutatingPolicyStrategy: Strategy = {
  ...plainStrategy,
  hasGeneration: true,
  defaults: withPolicyDefaults,
  validate: (policy) => [...policyCauses(specOf(policy)), ...mutationsCauses(specOf(policy))],
}

/** ValidatingAdmissionPolicies. */
export const validatingPolicyStrategy: Strategy = {
  ...plainStrategy,
  hasGeneration: true,
  defaults: withPolicyDefaults,
  validate: (policy) => [...policyCauses(specOf(policy)), ...validationsCauses(specOf(policy))],
}

/** MutatingAdmissionPolicyBindings. */
export const mutatingPolicyBindingStrategy: Strategy = {
  ...plainStrategy,
  hasGeneration: true,
  defaults: withBindingDefaults,
  validate: (binding) => bindingCauses(specOf(binding)),
}

/** ValidatingAdmissionPolicyBindings. */
export const validatingPolicyBindingStrategy: Strategy = {
  ...plainStrategy,
  hasGeneration: true,
  defaults: withBindingDefaults,
  validate: (binding) => [...bindingCauses(specOf(binding)), ...actionCauses(specOf(binding))],
}

function specOf(object: ApiObject): JsonObject {
  return objectOrEmpty(object['spec'])
}

function withPolicyDefaults(policy: ApiObject): ApiObject {
  const { matchConstraints, ...spec } = specOf(policy)
  const match = isObject(matchConstraints) && { matchConstraints: withMatchDefaults(matchConstraints) }
  return { ...policy, spec: { failurePolicy: 'Fail', ...spec, ...match } }
}

function withBindingDefaults(binding: ApiObject): ApiObject {
  const { matchResources, ...spec } = specOf(binding)
  return isObject(matchResources) ? { ...binding, spec: { ...spec, matchResources: withMatchDefaults(matchResources) } } : binding
}

function withMatchDefaults(match: JsonObject): JsonObject {
  const rules = ['resourceRules', 'excludeResourceRules']
    .filter((field) => match[field] !== undefined)
    .map((field) => [field, listOrEmpty(match[field]).map((rule) => ({ scope: '*', ...objectOrEmpty(rule) }))])
  return { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, ...match, ...Object.fromEntries(rules) }
}

function policyCauses(spec: JsonObject): readonly StatusCause[] {
  const { matchConstraints, paramKind } = spec
  const match = objectOrEmpty(matchConstraints)
  return [
    ...oneOf(spec, 'failurePolicy', ['Fail', 'Ignore'], 'spec'),
    ...(paramKind === undefined ? [] : requiredFields(objectOrEmpty(paramKind), ['apiVersion', 'kind'], 'spec.paramKind')),
    ...(matchConstraints === undefined ? [required('spec.matchConstraints')] : matchCauses(match, 'spec.matchConstraints')),
    ...(matchConstraints !== undefined && listOrEmpty(match['resourceRules']).length === 0
      ? [required('spec.matchConstraints.resourceRules')]
      : []),
    ...namedCauses(spec, 'matchConditions', 'bool'),
    ...namedCauses(spec, 'variables', 'anything'),
  ]
}

function matchCauses(match: JsonObject, path: string): readonly StatusCause[] {
  return [
    ...(['resourceRules', 'excludeResourceRules'] as const).flatMap((field) =>
      listOrEmpty(match[field]).flatMap((rule, index) => ruleCauses(objectOrEmpty(rule), `${path}.${field}[${index}]`)),
    ),
    ...(['namespaceSelector', 'objectSelector'] as const).flatMap((field) =>
      labelSelectorCauses(objectOrEmpty(match[field]), `${path}.${field}`),
    ),
    ...oneOf(match, 'matchPolicy', ['Equivalent', 'Exact'], path),
  ]
}

function namedCauses(spec: JsonObject, list: 'matchConditions' | 'variables', kind: ExpressionKind): readonly StatusCause[] {
  return listOrEmpty(spec[list]).flatMap((entry, index) => {
    const named = objectOrEmpty(entry)
    const path = `spec.${list}[${index}]`
    return [...requiredFields(named, ['name'], path), ...expressionCauses(named['expression'], kind, `${path}.expression`)]
  })
}

function mutationsCauses(spec: JsonObject): readonly StatusCause[] {
  const mutations = listOrEmpty(spec['mutations']).map(objectOrEmpty)
  return [
    ...(mutations.length === 0 ? [required('spec.mutations', 'mutations must contain at least one item')] : []),
    ...mutations.flatMap(({ patchType, jsonPatch }, index) => {
      const path = `spec.mutations[${index}]`
      if (patchType !== 'JSONPatch') return [notSupported(`${path}.patchType`, patchType, ['JSONPatch'])]
      if (jsonPatch === undefined) return [required(`${path}.jsonPatch`, 'must be specified when patchType is JSONPatch')]
      return expressionCauses(objectOrEmpty(jsonPatch)['expression'], 'list<JSONPatch>', `${path}.jsonPatch.expression`)
    }),
    ...(spec['reinvocationPolicy'] === undefined
      ? [required('spec.reinvocationPolicy')]
      : oneOf(spec, 'reinvocationPolicy', ['IfNeeded', 'Never'], 'spec')),
  ]
}

function validationsCauses(spec: JsonObject): readonly StatusCause[] {
  const validations = listOrEmpty(spec['validations']).map(objectOrEmpty)
  const why = 'validations or auditAnnotations must contain at least one item'
  const isEmpty = validations.length === 0 && listOrEmpty(spec['auditAnnotations']).length === 0
  return [
    ...(isEmpty ? [required('spec.validations', why), required('spec.auditAnnotations', why)] : []),
    ...validations.flatMap(({ expression, messageExpression }, index) => [
      ...expressionCauses(expression, 'bool', `spec.validations[${index}].expression`),
      ...(messageExpression === undefined
        ? []
        : expressionCauses(messageExpression, 'string', `spec.validations[${index}].messageExpression`)),
    ]),
  ]
}

function expressionCauses(expression: unknown, kind: ExpressionKind, field: string): readonly StatusCause[] {
  if (typeof expression !== 'string' || expression.trim() === '') return [required(field, 'expression is not specified')]
  const fault = expressionFault(expression, kind)
  return fault === undefined ? [] : [invalid(field, expression, fault)]
}

function bindingCauses({ policyName, paramRef, matchResources }: JsonObject): readonly StatusCause[] {
  const ref = objectOrEmpty(paramRef)
  return [
    ...(policyName ? [] : [required('spec.policyName')]),
    ...(paramRef !== undefined && ref['name'] === undefined && ref['selector'] === undefined
      ? [required('spec.paramRef', 'one of name or selector must be specified')]
      : []),
    ...(paramRef === undefined ? [] : requiredFields(ref, ['parameterNotFoundAction'], 'spec.paramRef')),
    ...(matchResources === undefined ? [] : matchCauses(objectOrEmpty(matchResources), 'spec.matchResources')),
  ]
}

const ACTIONS = ['Audit', 'Deny', 'Warn']

function actionCauses({ validationActions }: JsonObject): readonly StatusCause[] {
  const actions = listOrEmpty(validationActions)
  const twice =
    'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)'
  return [
    ...actions.flatMap((action, index) =>
      ACTIONS.includes(String(action)) ? [] : [notSupported(`spec.validationActions[${index}]`, action, ACTIONS)],
    ),
    ...(actions.includes('Deny') && actions.includes('Warn') ? [invalid('spec.validationActions', actions, twice)] : []),
    ...(actions.length === 0 ? [required('spec.validationActions', 'at least one validation action is required')] : []),
  ]
}

function requiredFields(object: JsonObject, fields: readonly string[], path: string): readonly StatusCause[] {
  return fields.filter((field) => !object[field]).map((field) => required(`${path}.${field}`))
}
