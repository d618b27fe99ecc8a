import type { NodeForPlacement } from '@tranche/fleet'
import type { LabelSelectorRequirement, NodeSelectorTerm, PodPlacement, Taint, Toleration } from '@tranche/kube-types'

/** Whether a DaemonSet with this placement wants a pod on the node: every rule of Kubernetes as it reads, one after the other. */
export function plainlyDesired(placement: PodPlacement, node: NodeForPlacement): boolean {
  const { nodeName = '', tolerations = [], hostNetwork = false } = placement
  if (nodeName !== '' && nodeName !== node.metadata.name) return false
  const added = hostNetwork ? [...AUTOMATIC, 'network-unavailable:NoSchedule'] : AUTOMATIC
  return plainlySelects(placement, node) && toleratesAll([...tolerations, ...added.map(toToleration)], node.spec?.taints ?? [])
}

/** Whether the scheduler may put a pod with this placement on the node. */
export function plainlySchedulable(placement: PodPlacement, node: NodeForPlacement): boolean {
  const cordon = node.spec?.unschedulable === true ? [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] : []
  return plainlySelects(placement, node) && toleratesAll(placement.tolerations ?? [], [...(node.spec?.taints ?? []), ...cordon])
}

const AUTOMATIC = [
  'not-ready:NoExecute',
  'unreachable:NoExecute',
  'disk-pressure:NoSchedule',
  'memory-pressure:NoSchedule',
  'pid-pressure:NoSchedule',
  'unschedulable:NoSchedule',
]

function toToleration(text: string): Toleration {
  const [key, effect] = text.split(':')
  return { key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: effect! }
}

function plainlySelects({ nodeSelector = {}, affinity }: PodPlacement, { metadata: { name, labels = {} } }: NodeForPlacement): boolean {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const hasLabels = Object.entries(nodeSelector).every(([key, value]) => new Map(Object.entries(labels)).get(key) === value)
  if (!hasLabels || required === undefined) return hasLabels
  return (required.nodeSelectorTerms ?? []).some((term) => matchesTerm(term, name, labels))
}

function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  name: string,
  labels: Readonly<Record<string, string>>,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  const areNames = matchFields.every(({ key, values = [] }) => key === 'metadata.name' && values.length === 1)
  const isNamed = matchFields.every(
    ({ operator, values }) => (operator === 'In' || operator === 'NotIn') && holds({ key: '', operator, values }, name),
  )
  return areNames && isNamed && matchExpressions.every((one) => holds(one, new Map(Object.entries(labels)).get(one.key)))
}

function holds({ operator, values = [] }: LabelSelectorRequirement, value: string | undefined): boolean {
  if (operator === 'Exists' || operator === 'DoesNotExist') return values.length === 0 && (value !== undefined) === (operator === 'Exists')
  if (operator === 'In') return value !== undefined && values.includes(value)
  if (operator === 'NotIn') return values.length > 0 && (value === undefined || !values.includes(value))
  const [number, than] = [int64(value), int64(values[0])]
  if (number === undefined || than === undefined || values.length !== 1) return false
  return operator === 'Gt' ? number > than : operator === 'Lt' && number < than
}

function int64(text = ''): bigint | undefined {
  if (!/^[+-]?\d{1,100}$/.test(text)) return undefined
  const number = text.startsWith('-') ? -BigInt(text.slice(1)) : BigInt(text.replace('+', ''))
  return number >= -(2n ** 63n) && number < 2n ** 63n ? number : undefined
}

function toleratesAll(tolerations: readonly Toleration[], taints: readonly Taint[]): boolean {
  return taints.every((taint) => taint.effect === 'PreferNoSchedule' || tolerations.some((one) => tolerates(one, taint)))
}

function tolerates({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  return operator === 'Exists' || (operator === 'Equal' && value === (taint.value ?? ''))
}
