import type { NodeSelector } from '@tranche/api-schema'
import { isLabelKey, isLabelValue } from './names.ts'

/** A problem in one field of a selector. */
export interface SelectorFault {
  readonly path: string
  readonly value: unknown
  readonly message: string
  readonly fix: string
}

/** @returns the parts of a node selector at `path` that Kubernetes would reject, or that exceed the limits here */
export function selectorFaults(path: string, selector: NodeSelector): readonly SelectorFault[] {
  const oversized = sizeFaults(path, selector)
  if (oversized.length > 0) return oversized
  const { matchLabels, matchExpressions } = selector
  const labels = Object.entries(matchLabels ?? {}).flatMap(([key, value]) => [
    ...keyFaults(`${path}.matchLabels`, key),
    ...valueFaults(`${path}.matchLabels[${key}]`, value),
  ])
  const requirements = (matchExpressions ?? []).flatMap((requirement, index) =>
    requirementFaults(`${path}.matchExpressions[${index}]`, requirement),
  )
  return [...labels, ...requirements]
}

/** Maximum labels and requirements of a selector: every pass compares each with each node. */
const MOST_REQUIREMENTS = 50
/** Maximum values of a requirement, such as names of nodes. */
const MOST_VALUES = 1_000

function sizeFaults(path: string, { matchLabels = {}, matchExpressions = [] }: NodeSelector): readonly SelectorFault[] {
  const count = Object.keys(matchLabels).length + matchExpressions.length
  if (count > MOST_REQUIREMENTS) {
    const message = `the selector has ${count} requirements; the maximum is ${MOST_REQUIREMENTS}`
    return [
      { path, value: `${count} requirements`, message, fix: `keep ${MOST_REQUIREMENTS} or fewer, or select the nodes by a common label` },
    ]
  }
  return matchExpressions.flatMap(({ values = [] }, index) => {
    if (values.length <= MOST_VALUES) return []
    const message = `the requirement has ${values.length} values; the maximum is ${MOST_VALUES}`
    const at = `${path}.matchExpressions[${index}].values`
    return [
      { path: at, value: `${values.length} values`, message, fix: `keep ${MOST_VALUES} or fewer, or select the nodes by a common label` },
    ]
  })
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
    ...values.flatMap((value, index) => valueFaults(`${path}.values[${index}]`, value)),
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
