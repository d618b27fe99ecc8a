import type { ApiObject } from '../client.ts'
import type { StatusCause } from '../status-error.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty } from '../store/json.ts'
import { invalid, notAllowed, notSupported, required } from './field-errors.ts'
import { isLabelValue, isQualifiedName } from './names.ts'
import { notNegative, validatePodSpec } from './pod-template-validation.ts'

/**
 * @returns what is wrong with a DaemonSet, defaults filled in
 * @see apps ValidateDaemonSet
 */
export function validateDaemonSet(object: ApiObject): readonly StatusCause[] {
  const spec = objectOrEmpty(object['spec'])
  return [
    ...selectorCauses(spec),
    ...templateCauses(objectOrEmpty(spec['template'])),
    ...notNegative(spec['minReadySeconds'], 'spec.minReadySeconds'),
    ...updateStrategyCauses(objectOrEmpty(spec['updateStrategy'])),
    ...notNegative(spec['revisionHistoryLimit'], 'spec.revisionHistoryLimit'),
    ...Object.entries(objectOrEmpty(object['status'])).flatMap(([field, value]) => notNegative(value, `status.${field}`)),
  ]
}

function selectorCauses(spec: JsonObject): readonly StatusCause[] {
  const { selector } = spec
  const labels = objectOrEmpty(objectOrEmpty(objectOrEmpty(spec['template'])['metadata'])['labels'])
  const given = objectOrEmpty(selector)
  const requirements = listOrEmpty(given['matchExpressions'])
  const isEmpty = requirements.length === 0 && Object.keys(objectOrEmpty(given['matchLabels'])).length === 0
  const causes = [
    ...matchLabelCauses(given),
    ...requirements.flatMap((requirement, index) => requirementCauses(objectOrEmpty(requirement), index)),
  ]
  if (isObject(selector) && isEmpty) causes.push(invalid('spec.selector', selector, 'empty selector is invalid for daemonset'))
  const isMatch = isObject(selector) && (isEmpty || selects(given, labels))
  if (causes.length === 0 && !isMatch)
    causes.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'))
  return causes
}

function matchLabelCauses(selector: JsonObject): readonly StatusCause[] {
  return Object.entries(objectOrEmpty(selector['matchLabels'])).flatMap(([key, value]) =>
    isQualifiedName(key) && isLabelValue(String(value))
      ? []
      : [invalid('spec.selector.matchLabels', isQualifiedName(key) ? value : key, 'is no label')],
  )
}

function requirementCauses(requirement: JsonObject, index: number): readonly StatusCause[] {
  const field = `spec.selector.matchExpressions[${index}]`
  const { key, operator } = requirement
  const count = listOrEmpty(requirement['values']).length
  const causes: StatusCause[] = []
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) causes.push(required(`${field}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) causes.push(notAllowed(`${field}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  } else {
    causes.push(invalid(`${field}.operator`, operator ?? '', 'not a valid selector operator'))
  }
  if (!isQualifiedName(String(key ?? ''))) causes.push(invalid(`${field}.key`, key ?? '', 'is no label key'))
  return causes
}

function selects(selector: JsonObject, labels: JsonObject): boolean {
  const equal = Object.entries(objectOrEmpty(selector['matchLabels'])).every(([key, value]) => labels[key] === value)
  return equal && listOrEmpty(selector['matchExpressions']).every((requirement) => meets(objectOrEmpty(requirement), labels))
}

function meets(requirement: JsonObject, labels: JsonObject): boolean {
  const value = labels[String(requirement['key'])]
  const listed = listOrEmpty(requirement['values']).includes(value)
  switch (requirement['operator']) {
    case 'In':
      return value !== undefined && listed
    case 'NotIn':
      return value === undefined || !listed
    case 'Exists':
      return value !== undefined
    default:
      return value === undefined
  }
}

function templateCauses(template: JsonObject): readonly StatusCause[] {
  const spec = objectOrEmpty(template['spec'])
  const { restartPolicy } = spec
  const podCauses = validatePodSpec(spec, 'spec.template.spec')
  const causes: StatusCause[] = [...podCauses]
  const policyIsKnown = !podCauses.some((cause) => cause.field === 'spec.template.spec.restartPolicy')
  if (policyIsKnown && restartPolicy !== 'Always') causes.push(notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always']))
  if (spec['activeDeadlineSeconds'] !== undefined)
    causes.push(notAllowed('spec.template.spec.activeDeadlineSeconds', 'activeDeadlineSeconds in DaemonSet is not Supported'))
  if (listOrEmpty(spec['ephemeralContainers']).length > 0)
    causes.push(notAllowed('spec.template.spec.ephemeralContainers', 'ephemeral containers not allowed in pod template'))
  return causes
}

function updateStrategyCauses(strategy: JsonObject): readonly StatusCause[] {
  const { type, rollingUpdate } = strategy
  if (type === 'OnDelete') return []
  if (type !== 'RollingUpdate') return [notSupported('spec.updateStrategy', type, ['RollingUpdate', 'OnDelete'])]
  if (!isObject(rollingUpdate)) return [required('spec.updateStrategy.rollingUpdate')]
  return rollingUpdateCauses(rollingUpdate)
}

const ROLLING_UPDATE = 'spec.updateStrategy.rollingUpdate'

function rollingUpdateCauses(rollingUpdate: JsonObject): readonly StatusCause[] {
  const { maxUnavailable, maxSurge } = rollingUpdate
  const sizes = [...sizeCauses(maxUnavailable, `${ROLLING_UPDATE}.maxUnavailable`), ...sizeCauses(maxSurge, `${ROLLING_UPDATE}.maxSurge`)]
  if (sizes.length > 0) return sizes
  const isUnavailable = sizeOf(maxUnavailable) !== 0
  const isSurge = sizeOf(maxSurge) !== 0
  if (isUnavailable && isSurge) return [invalid(`${ROLLING_UPDATE}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero')]
  if (!isUnavailable && !isSurge) return [required(`${ROLLING_UPDATE}.maxUnavailable`, 'cannot be 0 when maxSurge is 0')]
  return []
}

function sizeCauses(size: unknown, field: string): readonly StatusCause[] {
  if (typeof size === 'number') return notNegative(size, field)
  if (typeof size !== 'string' || !/^\d+%$/.test(size))
    return [invalid(field, size, "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%', or '93%')")]
  return sizeOf(size) > 100 ? [invalid(field, size, 'must not be greater than 100%')] : []
}

function sizeOf(size: unknown): number {
  return typeof size === 'string' ? Number.parseInt(size, 10) : Number(size)
}
