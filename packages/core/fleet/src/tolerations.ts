import type { PodPlacement, Taint, Toleration } from '@tranche/kube-types'

/** Tolerations by effect, empty where they name none. A taint takes as many look-ups for one toleration as for thousands. */
export type ReadTolerations = ReadonlyMap<string, ToleratedTaints>

/** Taints that are tolerated; an empty key is every key. */
interface ToleratedTaints {
  /** Keys with any value. */
  readonly keys: Set<string>
  /** Keys with one of these values. */
  readonly values: Map<string, Set<string>>
}

/** Reads tolerations; one with an unknown operator tolerates nothing. */
export function readTolerations(tolerations: readonly Toleration[]): ReadTolerations {
  const read = new Map<string, ToleratedTaints>()
  for (const { key = '', effect = '', operator = 'Equal', value = '' } of tolerations) {
    const { keys, values } = read.get(effect) ?? { keys: new Set<string>(), values: new Map<string, Set<string>>() }
    read.set(effect, { keys, values })
    if (operator === 'Exists') keys.add(key)
    if (operator === 'Equal') values.set(key, (values.get(key) ?? new Set()).add(value))
  }
  return read
}

/** Whether every taint is tolerated that keeps pods from a node. */
export function toleratesEach(tolerations: ReadTolerations, taints: readonly Taint[]): boolean {
  return taints.every(
    (taint) => taint.effect === 'PreferNoSchedule' || [taint.effect, ''].some((effect) => tolerates(tolerations.get(effect), taint)),
  )
}

/** Tolerations that the DaemonSet controller adds to every pod. */
export function automaticTolerations({ hostNetwork }: Pick<PodPlacement, 'hostNetwork'>): Toleration[] {
  const always = [
    ['not-ready', 'NoExecute'],
    ['unreachable', 'NoExecute'],
    ['disk-pressure', 'NoSchedule'],
    ['memory-pressure', 'NoSchedule'],
    ['pid-pressure', 'NoSchedule'],
    ['unschedulable', 'NoSchedule'],
  ]
  const all = hostNetwork === true ? [...always, ['network-unavailable', 'NoSchedule']] : always
  return all.map(([key, effect]) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect: effect! }))
}

/**
 * Keys of the taints that a node has while it is out of order, whatever their effect. Kubernetes sets them, but for `out-of-service`, which a
 * person sets so that Kubernetes deletes the pods of a dead node. None is on a node that works, so none is a user's choice of nodes.
 *
 * @see https://kubernetes.io/docs/reference/labels-annotations-taints/
 */
const FAILURE_TAINTS: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/out-of-service',
  'node.kubernetes.io/network-unavailable',
  'node.cloudprovider.kubernetes.io/shutdown',
])

/** Whether a taint says that its node is out of order. */
export function isFailureTaint({ key }: Taint): boolean {
  return FAILURE_TAINTS.has(key)
}

function tolerates(tolerated: ToleratedTaints | undefined, { key, value = '' }: Taint): boolean {
  if (tolerated === undefined) return false
  const { keys, values } = tolerated
  return keys.has(key) || keys.has('') || values.get(key)?.has(value) === true || values.get('')?.has(value) === true
}
