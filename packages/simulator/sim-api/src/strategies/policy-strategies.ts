import type { ApiObject } from '../model/client.ts'
import type { StatusCause } from '../model/status-error.ts'
import { isObject, jsonEqual, type JsonObject, listOrEmpty, mapList, objectOrEmpty } from '../model/json.ts'
import { invalid, notAllowed, notSupported } from '../model/field-errors.ts'
import { labelSelectorCauses } from '../model/label-selector.ts'
import { notNegative } from './pod-template-validation.ts'
import { parseQuantity, valueIn } from '@tranche/kube-types'
import type { Strategy } from '../model/resource-definition.ts'
import { sizeCauses } from './size.ts'
import { plainStrategy } from './strategies.ts'

const NO_BUDGET_STATUS = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }

/** PodDisruptionBudgets: a PUT requires a resource version, because evictions depend on the status. */
export const podDisruptionBudgetStrategy: Strategy = {
  ...plainStrategy,
  hasGeneration: true,
  allowUnconditionalUpdate: false,
  prepareCreate: (object) => ({ ...object, status: NO_BUDGET_STATUS }),
  validate: budgetCauses,
}

/** ResourceQuotas. */
export const resourceQuotaStrategy: Strategy = {
  ...plainStrategy,
  prepareCreate: (object) => ({ ...object, status: {} }),
  validate: (object) => quantityCauses(objectOrEmpty(object['spec'])['hard'], 'spec.hard'),
}

/** LimitRanges: missing values of an item are derived from the others. */
export const limitRangeStrategy: Strategy = {
  ...plainStrategy,
  allowCreateOnUpdate: true,
  defaults: defaultLimitRange,
  validate: (object) =>
    listOrEmpty(objectOrEmpty(object['spec'])['limits']).flatMap((item, index) =>
      ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'].flatMap((field) =>
        quantityCauses(objectOrEmpty(item)[field], `spec.limits[${index}].${field}`),
      ),
    ),
}

const SYSTEM_PREFIX = 'system-'
const HIGHEST_USER_PRIORITY = 1_000_000_000

/** Built-in priority classes, by name, with their values. */
export const systemPriorityClasses: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

/** PriorityClasses: value and preemption policy are immutable. */
export const priorityClassStrategy: Strategy = {
  ...plainStrategy,
  hasGeneration: true,
  defaults: (object) => (object['preemptionPolicy'] ? object : { ...object, preemptionPolicy: 'PreemptLowerPriority' }),
  validate: priorityClassCauses,
  validateUpdate: (object, old) => [
    ...(jsonEqual(object['value'], old['value']) ? [] : [notAllowed('value', 'may not be changed in an update.')]),
    ...(object['preemptionPolicy'] === old['preemptionPolicy']
      ? []
      : [invalid('preemptionPolicy', object['preemptionPolicy'], 'field is immutable')]),
  ],
}

function budgetCauses(object: ApiObject): readonly StatusCause[] {
  const spec = objectOrEmpty(object['spec'])
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec
  const isGiven = (value: unknown): boolean => value !== undefined && value !== null
  const both = isGiven(minAvailable) && isGiven(maxUnavailable)
  return [
    ...(both ? [invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')] : []),
    ...(isGiven(minAvailable) ? sizeCauses(minAvailable, 'spec.minAvailable') : []),
    ...(isGiven(maxUnavailable) ? sizeCauses(maxUnavailable, 'spec.maxUnavailable') : []),
    ...(isObject(selector) ? labelSelectorCauses(selector, 'spec.selector') : []),
    ...(isGiven(policy) && policy !== 'AlwaysAllow' && policy !== 'IfHealthyBudget'
      ? [notSupported('spec.unhealthyPodEvictionPolicy', policy, ['AlwaysAllow', 'IfHealthyBudget'])]
      : []),
    ...Object.keys(NO_BUDGET_STATUS).flatMap((field) => notNegative(objectOrEmpty(object['status'])[field], `status.${field}`)),
  ]
}

/** Invalid quantities are already rejected by decoding. */
function quantityCauses(quantities: unknown, field: string): readonly StatusCause[] {
  return Object.entries(objectOrEmpty(quantities)).flatMap(([name, value]) =>
    (parseQuantity(value) ?? 0) < 0 ? [invalid(`${field}[${name}]`, value, 'must be greater than or equal to 0')] : [],
  )
}

function defaultLimitRange(object: ApiObject): ApiObject {
  const spec = objectOrEmpty(object['spec'])
  const limits = mapList(listOrEmpty(spec['limits']), (item) => defaultLimitItem(objectOrEmpty(item)))
  return limits === spec['limits'] ? object : { ...object, spec: { ...spec, limits } }
}

/** @see core/v1 SetDefaults_LimitRangeItem */
function defaultLimitItem(item: JsonObject): JsonObject {
  if (item['type'] !== 'Container') return item
  const limit = { ...objectOrEmpty(item['max']), ...objectOrEmpty(item['default']) }
  const request = { ...objectOrEmpty(item['min']), ...limit, ...objectOrEmpty(item['defaultRequest']) }
  const filled = {
    ...item,
    ...(Object.keys(limit).length > 0 && { default: limit }),
    ...(Object.keys(request).length > 0 && { defaultRequest: request }),
  }
  return jsonEqual(filled, item) ? item : filled
}

function priorityClassCauses(object: ApiObject): readonly StatusCause[] {
  const { name } = object.metadata
  const { value, preemptionPolicy: policy } = object
  const isSystem = name.startsWith(SYSTEM_PREFIX)
  const causes: StatusCause[] = []
  if (isSystem && valueIn(systemPriorityClasses, name) !== value)
    causes.push(
      notAllowed(
        'metadata.name',
        `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${whyNotSystem(name)}`,
      ),
    )
  if (!isSystem && Number(value ?? 0) > HIGHEST_USER_PRIORITY)
    causes.push(notAllowed('value', `maximum allowed value of a user defined priority is ${HIGHEST_USER_PRIORITY}`))
  if (policy !== 'PreemptLowerPriority' && policy !== 'Never')
    causes.push(notSupported('preemptionPolicy', policy, ['PreemptLowerPriority', 'Never']))
  return causes
}

function whyNotSystem(name: string): string {
  const value = valueIn(systemPriorityClasses, name)
  return value === undefined ? `${name} is not a known system priority class` : `value of ${name} PriorityClass must be ${value}`
}
