import { controllerOf, type KubeObject, type Pod, type PodPlacement, type Toleration, valueIn } from '@tranche/kube-types'
import type { Demand } from './demand.ts'
import { hasEnded, specOf, toDemandingPod } from './demanding-pod.ts'
import type { DemandingPod } from './room.ts'

/** A pod without a node, and the nodes that it may run on. */
export interface PendingPod extends DemandingPod {
  readonly placement: PodPlacement
  /** What decides whose pod it is. */
  readonly owned: KubeObject
}

/**
 * Reduces a pod to what its scheduling depends on: a few kilobytes, because a thousand are kept, and any user may write a pod of a megabyte.
 * Where its node selector, affinity or tolerations are longer than {@link MOST_CHARACTERS}, they count as absent, so that the pod may take the
 * room of more nodes than it does. Its user could do that by a pod without them. Of ports and resources, {@link MOST_ENTRIES} each count.
 *
 * @returns null if it has a node, is being deleted, or is held back by scheduling gates
 */
export function toPendingPod(pod: Pod): PendingPod | null {
  const { nodeName = '', schedulingGates = [] } = specOf(pod)
  if (nodeName !== '' || schedulingGates.length > 0 || pod.metadata.deletionTimestamp !== undefined || hasEnded(pod)) return null
  const pending = toDemandingPod(pod)
  return { ...pending, demand: mainPartOf(pending.demand), placement: placementPartOf(pod), owned: ownedPartOf(pod) }
}

/** Maximum size of a node selector, an affinity, tolerations, or labels that is kept of a pending pod, in characters. */
const MOST_CHARACTERS = 4_096

/** Characters by which each member and item counts. */
const ENTRY_CHARACTERS = 8

/** Maximum number of ports, and of resources, that are kept of a pending pod. */
const MOST_ENTRIES = 100

const EVERY_TAINT: readonly Toleration[] = [{ operator: 'Exists' }]

/** Resources of every node come first, so that they are kept. */
function mainPartOf({ requests, hostPorts }: Demand): Demand {
  const asked = [...requests].filter(([, amount]) => amount !== 0n)
  const [own, extended] = [asked.filter(([name]) => !name.includes('/')), asked.filter(([name]) => name.includes('/'))]
  return { requests: new Map([...own, ...extended].slice(0, MOST_ENTRIES)), hostPorts: hostPorts.slice(0, MOST_ENTRIES) }
}

function placementPartOf({ spec = {} }: Pod): PodPlacement {
  const { nodeSelector = {}, tolerations = [], affinity } = spec as PodPlacement
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return {
    ...(isSmall(nodeSelector) && { nodeSelector }),
    ...(required !== undefined &&
      isSmall(required) && { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } }),
    tolerations: isSmall(tolerations) ? tolerations : EVERY_TAINT,
  }
}

/** Without the rest of the metadata, which may be large. A pod with larger labels counts as that of another DaemonSet. */
function ownedPartOf(pod: Pod): KubeObject {
  const { namespace, name, uid, labels = {} } = pod.metadata
  const owner = controllerOf(pod)
  const ownerReferences = owner === undefined || !isSmall(owner) ? [] : [owner]
  return { metadata: { namespace, name, uid, labels: isSmall(labels) ? labels : {}, ownerReferences } } as unknown as KubeObject
}

/** Whether a value is at most {@link MOST_CHARACTERS} long; looks at no more of it. */
function isSmall(value: unknown): boolean {
  let left = MOST_CHARACTERS
  const rest = [value]
  while (rest.length > 0 && left >= 0) {
    const one = rest.pop()
    if (typeof one === 'string') left -= one.length
    if (typeof one !== 'object' || one === null) continue
    for (const key in one) {
      left -= key.length + ENTRY_CHARACTERS
      if (left < 0) return false
      rest.push(valueIn(one as Readonly<Record<string, unknown>>, key))
    }
  }
  return left >= 0
}
