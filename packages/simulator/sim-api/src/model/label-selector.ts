import { valueIn } from '@tranche/kube-types'
import type { StatusCause } from './status-error.ts'
import { type JsonObject, listOrEmpty, objectOrEmpty } from './json.ts'
import { invalid, notAllowed, required } from './field-errors.ts'
import { isLabelValue, isQualifiedName } from './names.ts'

/** @returns whether the LabelSelector has no requirements */
export function isEmptySelector(selector: JsonObject): boolean {
  return listOrEmpty(selector['matchExpressions']).length === 0 && Object.keys(objectOrEmpty(selector['matchLabels'])).length === 0
}

/** @returns whether the labels meet all requirements of the LabelSelector; an empty one has none */
export function selectsLabels(selector: JsonObject, labels: JsonObject): boolean {
  const equal = Object.entries(objectOrEmpty(selector['matchLabels'])).every(([key, value]) => valueIn(labels, key) === value)
  return equal && listOrEmpty(selector['matchExpressions']).every((requirement) => meets(objectOrEmpty(requirement), labels))
}

/** @returns errors of the LabelSelector at `field` */
export function labelSelectorCauses(selector: JsonObject, field: string): readonly StatusCause[] {
  return [
    ...Object.entries(objectOrEmpty(selector['matchLabels'])).flatMap(([key, value]) =>
      isQualifiedName(key) && isLabelValue(String(value))
        ? []
        : [invalid(`${field}.matchLabels`, isQualifiedName(key) ? value : key, 'is no label')],
    ),
    ...listOrEmpty(selector['matchExpressions']).flatMap((requirement, index) =>
      requirementCauses(objectOrEmpty(requirement), `${field}.matchExpressions[${index}]`),
    ),
  ]
}

function requirementCauses(requirement: JsonObject, field: string): readonly StatusCause[] {
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

function meets(requirement: JsonObject, labels: JsonObject): boolean {
  const value = valueIn(labels, String(requirement['key']))
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
