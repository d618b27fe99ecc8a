import type { DrainConsumer } from '@tranche/api-schema'
import {
  controllerOf,
  isHelperPod,
  isOwnedBy,
  type OwnerOfObjects,
  parseLabelSelector,
  parseQuantity,
  type Pod,
  valueIn,
} from '@tranche/kube-types'

/** A pod on a node, with the CSI drivers of its volumes. */
export interface PodOnNode {
  readonly pod: Pod
  /** Drivers of the volumes that claims bind; empty where no consumer asks for a driver. */
  readonly claimedDrivers: readonly string[]
}

/** A pod that must leave the node before the agent. */
export interface Consumer {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Whether the pod is being deleted already, so that an eviction would change nothing. */
  readonly isLeaving: boolean
  /** Finalizers that keep a leaving pod. */
  readonly finalizers: readonly string[]
}

/**
 * The pods that use the agent, by namespace and name. A finished pod uses nothing. Left out are mirror pods, pods of any DaemonSet and helper
 * pods of prePull: they would come back on the same node at once.
 */
export function consumersOf(rules: readonly DrainConsumer[], agent: OwnerOfObjects, pods: readonly PodOnNode[]): readonly Consumer[] {
  return pods
    .filter(({ pod, claimedDrivers }) => isEvictable(pod, agent) && rules.some((rule) => isConsumer(rule, pod, claimedDrivers)))
    .map(({ pod }) => toConsumer(pod))
    .toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name))
}

/** Whether a drain may evict the pod, if it is a consumer. */
export function isEvictable(pod: Pod, agent: OwnerOfObjects): boolean {
  const isMirror = pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined
  const isOfDaemonSet = controllerOf(pod)?.kind === 'DaemonSet' || isOwnedBy(pod, agent)
  return !isMirror && !isOfDaemonSet && !isHelperPod(pod) && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed'
}

/** Whether a consumer is found by the CSI driver of its volumes, so that claims must be read. */
export function needsDrivers(rules: readonly DrainConsumer[]): boolean {
  return rules.some(({ csiDriver }) => csiDriver !== undefined)
}

/** Names of the PersistentVolumeClaims that a pod mounts, in its namespace; a generic ephemeral volume has one of its own. */
export function claimsOf(pod: Pod): readonly string[] {
  return volumesOf(pod).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim?.claimName !== undefined) return [persistentVolumeClaim.claimName]
    return ephemeral === undefined || ephemeral === null ? [] : [`${pod.metadata.name}-${name}`]
  })
}

/** Annotation that a kubelet puts on the API object of a static pod. @see k8s.io/kubernetes/pkg/kubelet/types ConfigMirrorAnnotationKey */
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror'

function isConsumer({ selector, csiDriver, extendedResource }: DrainConsumer, pod: Pod, claimedDrivers: readonly string[]): boolean {
  if (selector !== undefined) return parseLabelSelector(selector)?.(pod.metadata.labels ?? {}) === true
  if (csiDriver !== undefined) return claimedDrivers.includes(csiDriver) || volumesOf(pod).some(({ csi }) => csi?.driver === csiDriver)
  return extendedResource !== undefined && containersOf(pod).some((container) => requests(container, extendedResource))
}

/** Limits of an extended resource are its requests. */
function requests({ resources }: ConsumingContainer, name: string): boolean {
  const amount = valueIn(resources?.requests, name) ?? valueIn(resources?.limits, name)
  return amount !== undefined && (parseQuantity(amount) ?? 0n) > 0n
}

function toConsumer({ metadata }: Pod): Consumer {
  const isLeaving = metadata.deletionTimestamp !== undefined
  const { namespace = '', name, uid, finalizers = [] } = metadata
  return { namespace, name, uid, isLeaving, finalizers: isLeaving ? finalizers : [] }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** @see core/v1 Volume */
interface ConsumedVolume {
  readonly name: string
  readonly csi?: { readonly driver?: string } | null
  readonly persistentVolumeClaim?: { readonly claimName?: string } | null
  readonly ephemeral?: object | null
}

/** @see core/v1 Container */
interface ConsumingContainer {
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>
    readonly limits?: Readonly<Record<string, string>>
  }
}

interface ConsumingSpec {
  readonly volumes?: readonly ConsumedVolume[] | null
  readonly containers?: readonly ConsumingContainer[] | null
  readonly initContainers?: readonly ConsumingContainer[] | null
}

function volumesOf(pod: Pod): readonly ConsumedVolume[] {
  return consumingSpecOf(pod).volumes ?? []
}

function containersOf(pod: Pod): readonly ConsumingContainer[] {
  const { containers, initContainers } = consumingSpecOf(pod)
  return [...(containers ?? []), ...(initContainers ?? [])]
}

function consumingSpecOf({ spec }: { readonly spec?: unknown }): ConsumingSpec {
  return (spec ?? {}) as ConsumingSpec
}
