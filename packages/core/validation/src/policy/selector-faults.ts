import type { NodeSelector } from '@tranche/api-schema'
import { isLabelKey, isLabelValue } from '../names.ts'

/** What is wrong with one field of a selector. */
export interface SelectorFault {
  readonly path: string
  readonly value: unknown
  readonly message: string
  readonly fix: string
}

/** @returns what Kubernetes would refuse of a selector of nodes at `path` */
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

/** The most labels and requirements of a selector: each is compared with each node, in every pass. */
const MOST_REQUIREMENTS = 50
/** The most values of a requirement, such as names of nodes. */
const MOST_VALUES = 1_000

function sizeFaults(path: string, { matchLabels = {}, matchExpressions = [] }: NodeSelector): readonly SelectorFault[] {
  const count = Object.keys(matchLabels).length + matchExpressions.length
  if (count > MOST_REQUIREMENTS) {
    const message = `the selector has ${count} requirements, and ${MOST_REQUIREMENTS} are the most`
    return [{ path, value: `${count} requirements`, message, fix: `keep ${MOST_REQUIREMENTS} or fewer, or give the nodes one label` }]
  }
  return matchExpressions.flatMap(({ values = [] }, index) => {
    if (values.length <= MOST_VALUES) return []
    const message = `the requirement has ${values.length} values, and ${MOST_VALUES} are the most`
    const at = `${path}.matchExpressions[${index}].values`
    return [{ path: at, value: `${values.length} values`, message, fix: `keep ${MOST_VALUES} or fewer, or give the nodes one label` }]
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
    ...(none
      ? [{ path: `${path}.values`, value: values, message: `${operator} compares with values`, fix: 'list one value at least' }]
      : []),
    ...(tooMany ? [{ path: `${path}.values`, value: values, message: `${operator} compares with no value`, fix: 'remove it' }] : []),
    ...values.flatMap((value, index) => valueFaults(`${path}.values[${index}]`, value)),
  ]
}

function keyFaults(path: string, key: string): readonly SelectorFault[] {
  if (isLabelKey(key)) return []
  return [{ path, value: key, message: 'it is not the name of a label', fix: 'set it to a label such as topology.kubernetes.io/zone' }]
}

function valueFaults(path: string, value: string): readonly SelectorFault[] {
  if (value === '' || isLabelValue(value)) return []
  const message = 'a label has up to 63 letters, digits, dots, hyphens and underscores'
  return [{ path, value, message, fix: 'set it to a value that a label can have' }]
}
