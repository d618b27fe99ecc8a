import { ownValue } from './own-value.ts'
import type { RecordedNode, RecordedPlacement, RecordedRequirement, RecordedTerm } from '../record/recorded-write.ts'

type Toleration = NonNullable<RecordedPlacement['tolerations']>[number]
type Taint = NonNullable<RecordedNode['taints']>[number]

/**
 * Whether a DaemonSet wants a pod on a node. Conditions, `spec.unschedulable`, resources and preferences do not matter. Written from the
 * documentation of the DaemonSet controller, and shares no code with our programs.
 *
 * @param placement absent when the recorder kept none: then every node is wanted
 */
export function isWanted(placement: RecordedPlacement | undefined, node: RecordedNode): boolean {
  return placement === undefined || (isSelected(placement, node) && (node.taints ?? []).every((taint) => isTolerated(taint, placement)))
}

/**
 * Whether a DaemonSet wants a pod on the node as soon as it works again: no taint keeps it away but those of a node that is out of order. Also
 * true for a wanted node.
 */
export function isWantedOnReturn(placement: RecordedPlacement | undefined, node: RecordedNode): boolean {
  const lasting = (node.taints ?? []).filter(({ key }) => !OUT_OF_ORDER.has(key))
  return isWanted(placement, { ...node, taints: lasting })
}

/** Taints of nodes that do not work: of the node lifecycle controllers, and of a person who declares a node dead. */
const OUT_OF_ORDER: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/network-unavailable',
  'node.kubernetes.io/out-of-service',
  'node.cloudprovider.kubernetes.io/shutdown',
])

function isSelected(placement: RecordedPlacement, node: RecordedNode): boolean {
  if (placement.nodeName && placement.nodeName !== node.name) return false
  return hasLabels(placement, node) && inSomeTerm(placement, node)
}

function hasLabels({ nodeSelector = {} }: RecordedPlacement, { labels = {} }: RecordedNode): boolean {
  return Object.entries(nodeSelector).every(([key, value]) => ownValue(labels, key) === value)
}

/** Terms are alternatives. An empty term, like an empty list of terms, matches no node. */
function inSomeTerm({ nodeSelectorTerms }: RecordedPlacement, node: RecordedNode): boolean {
  return nodeSelectorTerms === undefined || nodeSelectorTerms.some((term) => isMet(term, node))
}

function isMet({ matchExpressions = [], matchFields = [] }: RecordedTerm, { name, labels = {} }: RecordedNode): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  return (
    matchExpressions.every((asked) => holds(asked, ownValue(labels, asked.key))) &&
    matchFields.every((asked) => asked.key === 'metadata.name' && asked.values?.length === 1 && isNameTest(asked) && holds(asked, name))
  )
}

/** Whether the labels meet all requirements. */
export function matchesAll(requirements: readonly RecordedRequirement[], labels: Readonly<Record<string, string>>): boolean {
  return requirements.every((asked) => holds(asked, ownValue(labels, asked.key)))
}

function isNameTest({ operator }: RecordedRequirement): boolean {
  return operator === 'In' || operator === 'NotIn'
}

/** A malformed requirement matches nothing. */
function holds({ operator, values = [] }: RecordedRequirement, value: string | undefined): boolean {
  if (operator === 'Exists') return values.length === 0 && value !== undefined
  if (operator === 'DoesNotExist') return values.length === 0 && value === undefined
  if (values.length === 0) return false
  if (operator === 'In') return value !== undefined && values.includes(value)
  if (operator === 'NotIn') return value === undefined || !values.includes(value)
  const [than] = values
  if (values.length !== 1 || !isInteger(value) || !isInteger(than)) return false
  const difference = BigInt(value) - BigInt(than)
  return operator === 'Gt' ? difference > 0n : operator === 'Lt' && difference < 0n
}

function isInteger(text: string | undefined): text is string {
  return text !== undefined && /^[+-]?\d+$/.test(text)
}

/** Tolerations that the controller adds to every pod of a DaemonSet. */
const ALWAYS: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready NoExecute',
  'node.kubernetes.io/unreachable NoExecute',
  'node.kubernetes.io/disk-pressure NoSchedule',
  'node.kubernetes.io/memory-pressure NoSchedule',
  'node.kubernetes.io/pid-pressure NoSchedule',
  'node.kubernetes.io/unschedulable NoSchedule',
])

function isTolerated(taint: Taint, { tolerations = [], hostNetwork = false }: RecordedPlacement): boolean {
  if (taint.effect !== 'NoSchedule' && taint.effect !== 'NoExecute') return true
  const tolerance = `${taint.key} ${taint.effect}`
  if (ALWAYS.has(tolerance) || (hostNetwork && tolerance === 'node.kubernetes.io/network-unavailable NoSchedule')) return true
  return tolerations.some((toleration) => covers(toleration, taint))
}

function covers({ key = '', effect = '', operator = '', value = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '')
}
