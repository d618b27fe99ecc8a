import { valueIn } from '@tranche/kube-types'
import type { LabelSelector, LabelSelectorRequirement, Node, NodeSelectorTerm } from '@tranche/kube-types'

type Labels = Readonly<Record<string, string>>

/** @returns whether the labels match the selector; an empty or missing selector matches nothing here */
export function matchesSelector(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined || isEmptySelector(selector)) return false
  return (
    matchesAllLabels(selector.matchLabels, labels) && (selector.matchExpressions ?? []).every((one) => matchesLabel(one, labels) === true)
  )
}

/** @returns whether the selector exists and selects everything */
export function isEmptySelector(selector: LabelSelector): boolean {
  return Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
}

/** @returns whether the labels contain all the required ones */
export function matchesAllLabels(wanted: Labels = {}, labels: Labels = {}): boolean {
  return Object.entries(wanted).every(([key, value]) => valueIn(labels, key) === value)
}

/**
 * Node affinity: the terms are alternatives; all requirements of a term must hold.
 *
 * @returns false without terms; an empty or malformed term matches nothing
 */
export function matchesNodeTerms(terms: readonly NodeSelectorTerm[], node: Node): boolean {
  return terms.some((term) => matchesTerm(term, node))
}

function matchesTerm(term: NodeSelectorTerm, node: Node): boolean {
  const { matchExpressions = [], matchFields = [] } = term
  if (matchExpressions.length === 0 && matchFields.length === 0) return false
  return (
    matchExpressions.every((one) => matchesLabel(one, node.metadata.labels ?? {}) === true) &&
    matchFields.every((one) => matchesField(one, node.metadata.name) === true)
  )
}

/** @returns undefined when the requirement itself is invalid */
function matchesLabel({ key, operator, values = [] }: LabelSelectorRequirement, labels: Labels): boolean | undefined {
  const value = valueIn(labels, key)
  switch (operator) {
    case 'In':
      return values.length === 0 ? undefined : value !== undefined && values.includes(value)
    case 'NotIn':
      return values.length === 0 ? undefined : value === undefined || !values.includes(value)
    case 'Exists':
      return values.length > 0 ? undefined : value !== undefined
    case 'DoesNotExist':
      return values.length > 0 ? undefined : value === undefined
    case 'Gt':
    case 'Lt':
      return compareWhole(value, values, operator)
    default:
      return undefined
  }
}

function compareWhole(value: string | undefined, values: readonly string[], operator: 'Gt' | 'Lt'): boolean | undefined {
  const bound = values[0] ?? ''
  if (values.length !== 1 || !/^-?\d+$/.test(bound)) return undefined
  if (value === undefined || !/^-?\d+$/.test(value)) return false
  return operator === 'Gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound)
}

function matchesField({ key, operator, values = [] }: LabelSelectorRequirement, nodeName: string): boolean | undefined {
  if (key !== 'metadata.name' || values.length !== 1) return undefined
  if (operator === 'In') return values[0] === nodeName
  return operator === 'NotIn' ? values[0] !== nodeName : undefined
}
