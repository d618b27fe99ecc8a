import { valueIn } from '@tranche/kube-types'
import type { ApiObject } from './client.ts'
import type { ApiStatusError } from './status-error.ts'
import { badRequest } from './errors.ts'
import { isLabelValue, isQualifiedName } from './names.ts'
import type { ResourceDefinition } from './resource-definition.ts'

/** Whether an object belongs to a list or watch. */
export type Matches = (object: ApiObject) => boolean

/** Selectors of a list or watch. */
export interface Selection {
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
}

/** Whether a list or watch shows every object of a resource; labels and fields select only a part of them. */
export function isOfWholeResource({ labelSelector = '', fieldSelector = '' }: Selection): boolean {
  return labelSelector === '' && fieldSelector === ''
}

/**
 * Parses the selectors once.
 *
 * @throws {ApiStatusError} 400 for an invalid selector, or for a field that this resource does not support
 */
export function parseSelection(definition: ResourceDefinition, selection: Selection): Matches {
  const tests: Matches[] = []
  const { namespace } = selection
  if (definition.namespaced && namespace !== undefined && namespace !== '') tests.push((object) => object.metadata.namespace === namespace)
  if (selection.labelSelector) tests.push(...parseLabelSelector(selection.labelSelector))
  if (selection.fieldSelector) tests.push(...parseFieldSelector(definition, selection.fieldSelector))
  return all(tests)
}

function all(tests: readonly Matches[]): Matches {
  const [first, second] = tests
  if (first === undefined) return () => true
  if (second === undefined) return first
  return (object) => tests.every((test) => test(object))
}

function parseLabelSelector(text: string): readonly Matches[] {
  return splitRequirements(text).map((requirement) => {
    const test = parseRequirement(requirement.trim())
    if (test === null) throw badRequest(`unable to parse requirement: ${JSON.stringify(requirement)} in selector ${JSON.stringify(text)}`)
    return test
  })
}

/** Splits at commas that are not in brackets. */
function splitRequirements(text: string): readonly string[] {
  return text.split(/,(?![^(]*\))/)
}

function parseRequirement(text: string): Matches | null {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/.exec(text)
  if (set !== null)
    return setRequirement(
      set[1]!,
      set[2] === 'in',
      set[3]!.split(',').map((value) => value.trim()),
    )
  const equality = /^([^\s!=]+)\s*(==|=|!=)\s*(\S*)$/.exec(text)
  if (equality !== null) return setRequirement(equality[1]!, equality[2] !== '!=', [equality[3]!])
  const order = /^([^\s<>]+)\s*([<>])\s*(-?\d+)$/.exec(text)
  if (order !== null) return orderRequirement(order[1]!, order[2] === '>', Number(order[3]))
  const existence = /^(!?)\s*(\S+)$/.exec(text)
  if (existence === null || !isQualifiedName(existence[2]!)) return null
  const [, not, key] = existence
  return (object) => (valueIn(object.metadata.labels, key!) !== undefined) === (not === '')
}

/** An object without the label matches `!=` and `notin`. */
function setRequirement(key: string, positive: boolean, values: readonly string[]): Matches | null {
  if (!isQualifiedName(key) || !values.every(isLabelValue)) return null
  return (object) => {
    const value = valueIn(object.metadata.labels, key)
    return (value !== undefined && values.includes(value)) === positive
  }
}

/** Only whole-number label values can match `>` and `<`. */
function orderRequirement(key: string, isAbove: boolean, bound: number): Matches | null {
  if (!isQualifiedName(key)) return null
  return (object) => {
    const value = valueIn(object.metadata.labels, key) ?? ''
    return /^-?\d+$/.test(value) && (isAbove ? Number(value) > bound : Number(value) < bound)
  }
}

function parseFieldSelector(definition: ResourceDefinition, text: string): readonly Matches[] {
  return text
    .split(/(?<!\\),/)
    .filter((term) => term !== '')
    .map((term) => fieldRequirement(definition, term))
}

function fieldRequirement(definition: ResourceDefinition, term: string): Matches {
  const parts = /^([^!=]+)(==|=|!=)(.*)$/.exec(term.trim())
  if (parts === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`)
  const [, field, operator, escaped] = parts
  const read = fieldReader(definition, field!)
  if (read === undefined) throw unknownField(definition, field!)
  const value = escaped!.replace(/\\([\\,=])/g, '$1')
  return (object) => (read(object) === value) === (operator !== '!=')
}

/** Kinds without selectable fields of their own share one message. */
function unknownField(definition: ResourceDefinition, field: string): ApiStatusError {
  const isPlain = definition.customResourceDefinition === undefined && Object.keys(definition.strategy.selectableFields).length === 0
  return badRequest(
    isPlain
      ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
      : `field label not supported: ${field}`,
  )
}

function fieldReader(definition: ResourceDefinition, field: string): ((object: ApiObject) => string) | undefined {
  if (field === 'metadata.name') return (object) => object.metadata.name
  if (field === 'metadata.namespace' && definition.namespaced) return (object) => object.metadata.namespace ?? ''
  return valueIn(definition.strategy.selectableFields, field)
}
