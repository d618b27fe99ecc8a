import type { ApiObject } from '../model/client.ts'
import type { StatusCause } from '../model/status-error.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { invalid, notAllowed, notSupported, required } from '../model/field-errors.ts'
import { isEmptySelector, labelSelectorCauses, selectsLabels } from '../model/label-selector.ts'
import { notNegative, validatePodSpec } from './pod-template-validation.ts'
import { sizeCauses, sizeOf } from './size.ts'

/**
 * @returns validation errors of a DaemonSet with defaults
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
  const isEmpty = isEmptySelector(given)
  const causes = [...labelSelectorCauses(given, 'spec.selector')]
  if (isObject(selector) && isEmpty) causes.push(invalid('spec.selector', selector, 'empty selector is invalid for daemonset'))
  const isMatch = isObject(selector) && (isEmpty || selectsLabels(given, labels))
  if (causes.length === 0 && !isMatch)
    causes.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'))
  return causes
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
  const causes = [...sizeCauses(maxUnavailable, `${ROLLING_UPDATE}.maxUnavailable`), ...sizeCauses(maxSurge, `${ROLLING_UPDATE}.maxSurge`)]
  const isUnavailable = isMoreThanNone(maxUnavailable)
  const isSurge = isMoreThanNone(maxSurge)
  if (isUnavailable && isSurge)
    causes.push(invalid(`${ROLLING_UPDATE}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'))
  if (!isUnavailable && !isSurge) causes.push(required(`${ROLLING_UPDATE}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
  return causes
}

/** An invalid percentage counts as 0. */
function isMoreThanNone(size: unknown): boolean {
  const amount = sizeOf(size)
  return !Number.isNaN(amount) && amount !== 0
}
