import type { NodeSelector } from '@tranche/api-schema'
import { findingsOfEach, MOST_FINDINGS } from '../problems/bounded.ts'
import { isLabelKey, isLabelValue } from './names.ts'

/** A problem in one field of a selector. */
export interface SelectorFault {
  readonly path: string
  readonly value: unknown
  readonly message: string
  readonly fix: string
}

/**
 * @param selector of an allowed size
 * @returns the first parts of a selector at `path` that Kubernetes would reject: as many as a check lists, and one more
 */
export function selectorFaults(path: string, { matchLabels, matchExpressions }: NodeSelector): readonly SelectorFault[] {
  const labels = findingsOfEach(Object.entries(matchLabels ?? {}), ([key, value]) => [
    ...keyFaults(`${path}.matchLabels`, key),
    ...valueFaults(`${path}.matchLabels[${key}]`, value),
  ])
  if (labels.length > MOST_FINDINGS) return labels
  const requirements = findingsOfEach(matchExpressions ?? [], (requirement, index) =>
    requirementFaults(`${path}.matchExpressions[${index}]`, requirement),
  )
  return [...labels, ...requirements]
}

/** Whether a selector matches every node. */
export function matchesEverything({ matchLabels, matchExpressions }: NodeSelector): boolean {
  return Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0
}

type Requirement = NonNullable<NodeSelector['matchExpressions']>[number]

function requirementFaults(path: string, { key, operator, values = [] }: Requirement): readonly SelectorFault[] {
  const wantsValues = operator === 'In' || operator === 'NotIn'
  const none = wantsValues && values.length === 0
  const tooMany = !wantsValues && values.length > 0
  return [
    ...keyFaults(`${path}.key`, key),
    ...(none ? [{ path: `${path}.values`, value: values, message: `${operator} needs values`, fix: 'list at least one value' }] : []),
    ...(tooMany ? [{ path: `${path}.values`, value: values, message: `${operator} takes no values`, fix: 'remove it' }] : []),
    ...findingsOfEach(values, (value, index) => valueFaults(`${path}.values[${index}]`, value)),
  ]
}

function keyFaults(path: string, key: string): readonly SelectorFault[] {
  if (isLabelKey(key)) return []
  return [{ path, value: key, message: 'it is not a valid label key', fix: 'set it to a label such as topology.kubernetes.io/zone' }]
}

function valueFaults(path: string, value: string): readonly SelectorFault[] {
  if (value === '' || isLabelValue(value)) return []
  const message = 'a label value has up to 63 letters, digits, dots, hyphens and underscores'
  return [{ path, value, message, fix: 'set it to a valid label value' }]
}
