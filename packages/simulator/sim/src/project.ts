import {
  type Condition,
  controllerOf,
  type ControllerRevision,
  type DaemonSet,
  type Node,
  type Pod,
  type PodTemplate,
  valueIn,
} from '@tranche/kube-types'
import type { ApiObject } from '@tranche/sim-api'
import { digest } from './digest.ts'

type Projection = Readonly<Record<string, unknown>>

const projections: Readonly<Record<string, (object: never) => Projection>> = {
  Pod: projectPod,
  DaemonSet: projectDaemonSet,
  Node: projectNode,
  ControllerRevision: projectRevision,
}

/**
 * Recorded fields of an object: for Pod, DaemonSet, Node and ControllerRevision those that matter for a rollout; every other kind whole.
 */
export function project(object: ApiObject): Projection {
  const projection = valueIn(projections, object.kind)
  return projection === undefined ? object : projection(object as never)
}

/** @returns node of the object: where a pod is bound or pinned; a Node's own name */
export function nodeOf(object: ApiObject): string | undefined {
  if (object.kind === 'Node') return object.metadata.name
  return object.kind === 'Pod' ? podNode(object as unknown as Pod) : undefined
}

function projectPod(pod: Pod): Projection {
  const statuses = pod.status?.containerStatuses
  const ready = readyCondition(pod)
  const { containers } = pod.spec as unknown as { readonly containers: readonly { readonly image?: string }[] }
  return {
    name: pod.metadata.name,
    uid: pod.metadata.uid,
    owner: controllerOf(pod)?.name,
    ownerUid: controllerOf(pod)?.uid,
    created: pod.metadata.creationTimestamp,
    node: podNode(pod),
    bound: Boolean(pod.spec?.nodeName),
    ...(isUnschedulable(pod) && { unschedulable: true }),
    ...(doesRequest(pod) && { requests: true }),
    ...usesOf(pod),
    ...configOf(pod),
    hash: pod.metadata.labels?.['controller-revision-hash'],
    ...helperOf(pod),
    gen: pod.metadata.labels?.['pod-template-generation'],
    phase: pod.status?.phase,
    ready: ready?.status === 'True',
    readyAt: ready?.lastTransitionTime,
    deleting: pod.metadata.deletionTimestamp !== undefined,
    images: containers.map(({ image }) => image),
    waiting: waitingReason(pod),
    restarts: statuses?.[0]?.restartCount,
  }
}

/** ConfigMap that the cluster writes into every namespace, and mounts into every pod. */
const ROOT_CERTIFICATES = 'kube-root-ca.crt'

/** Names of the ConfigMaps, and of the Secrets, that a pod of a DaemonSet reads; nothing without one. */
function configOf(pod: Pod): { readonly config?: readonly string[]; readonly secrets?: readonly string[] } {
  if (controllerOf(pod)?.kind !== 'DaemonSet') return {}
  const { containers = [], initContainers = [], volumes = [] } = pod.spec as unknown as ReadingSpec
  const entries = [...initContainers, ...containers].flatMap(({ env = [], envFrom = [] }) => [
    ...envFrom.map(({ configMapRef, secretRef }) => [configMapRef?.name, secretRef?.name] as const),
    ...env.map(({ valueFrom }) => [valueFrom?.configMapKeyRef?.name, valueFrom?.secretKeyRef?.name] as const),
  ])
  const files = volumes.flatMap(({ configMap, secret, projected }) => [
    [configMap?.name, secret?.secretName] as const,
    ...(projected?.sources ?? []).map((source) => [source.configMap?.name, source.secret?.name] as const),
  ])
  const namesAt = (at: 0 | 1): readonly string[] =>
    [...new Set([...entries, ...files].map((names) => names[at]))].flatMap((name) =>
      name === undefined || name === ROOT_CERTIFICATES ? [] : [name],
    )
  const [config, secrets] = [namesAt(0), namesAt(1)]
  return { ...(config.length > 0 && { config }), ...(secrets.length > 0 && { secrets }) }
}

interface Named {
  readonly name?: string
}

/** @see core/v1 PodSpec */
interface ReadingSpec {
  readonly containers?: readonly ReadingContainer[]
  readonly initContainers?: readonly ReadingContainer[]
  readonly volumes?: readonly {
    readonly configMap?: Named
    readonly secret?: { readonly secretName?: string }
    readonly projected?: { readonly sources?: readonly { readonly configMap?: Named; readonly secret?: Named }[] }
  }[]
}

interface ReadingContainer {
  readonly env?: readonly { readonly valueFrom?: { readonly configMapKeyRef?: Named; readonly secretKeyRef?: Named } }[]
  readonly envFrom?: readonly { readonly configMapRef?: Named; readonly secretRef?: Named }[]
}

/** The copies of config that a template names, and its digest without them; nothing where it names none. */
function pinsOf(template: PodTemplate | undefined): { readonly pins?: string; readonly unpinned?: string } {
  const { 'tranche.dev/pinned-config': pins, ...others } = template?.metadata?.annotations ?? {}
  if (template === undefined || pins === undefined) return {}
  const annotations = Object.keys(others).length === 0 ? undefined : others
  return { pins, unpinned: digest({ ...template, $patch: undefined, metadata: { ...template.metadata, annotations } }) }
}

/** @returns the revision for which the pod pulls images, if nothing runs in it */
function helperOf(pod: Pod): { readonly helper?: string } {
  const helper = pod.metadata.labels?.['tranche.dev/pre-pull']
  return helper !== undefined && controllerOf(pod)?.kind === 'BatchRelease' ? { helper } : {}
}

function isUnschedulable({ status }: Pod): boolean {
  return (status?.conditions ?? []).some(
    ({ type, status: is, reason }) => type === 'PodScheduled' && is === 'False' && reason === 'Unschedulable',
  )
}

function doesRequest({ spec }: Pod): boolean {
  const { containers = [], initContainers = [] } = spec as unknown as Readonly<Record<string, readonly RequestingContainer[] | undefined>>
  const isAsking = ({ resources, ports = [] }: RequestingContainer): boolean =>
    Object.keys({ ...resources?.limits, ...resources?.requests }).length > 0 || ports.some(({ hostPort }) => hostPort !== undefined)
  return [...containers, ...initContainers].some(isAsking)
}

/** @see core/v1 Container */
interface RequestingContainer {
  readonly resources?: { readonly requests?: object; readonly limits?: object }
  readonly ports?: readonly { readonly hostPort?: number }[]
}

/** What a pod that is not of a DaemonSet uses of its node: it may be a consumer of an agent. Empty for the others. */
function usesOf(pod: Pod): Projection {
  const { containers = [], initContainers = [], volumes = [] } = pod.spec as unknown as UsingSpec
  if (controllerOf(pod)?.kind === 'DaemonSet') return {}
  const quantities = [...containers, ...initContainers].flatMap(({ resources }) =>
    Object.entries({ ...resources?.limits, ...resources?.requests }),
  )
  const extended = quantities.flatMap(([name, amount]) => (name.includes('/') && amount !== '0' ? [name] : []))
  const drivers = volumes.flatMap(({ csi }) => csi?.driver ?? [])
  const claims = volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [])
  return {
    labels: pod.metadata.labels ?? {},
    ...(extended.length > 0 && { extended }),
    ...(drivers.length > 0 && { drivers }),
    ...(claims.length > 0 && { claims }),
  }
}

/** @see core/v1 PodSpec */
interface UsingSpec {
  readonly containers?: readonly RequestingContainer[]
  readonly initContainers?: readonly RequestingContainer[]
  readonly volumes?: readonly {
    readonly csi?: { readonly driver?: string }
    readonly persistentVolumeClaim?: { readonly claimName?: string }
  }[]
}

/** Taken from the first container that has one. A successfully ended init container has none. */
function waitingReason({ status }: Pod): string | undefined {
  const { initContainerStatuses = [], containerStatuses = [] } = status ?? {}
  const running = initContainerStatuses.filter(({ state }) => state?.terminated?.reason !== 'Completed')
  return [...running, ...containerStatuses].map(({ state }) => state?.waiting?.reason ?? state?.terminated?.reason).find(Boolean)
}

function podNode(pod: Pod): string | undefined {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return pod.spec?.nodeName ?? terms?.[0]?.matchFields?.[0]?.values?.[0] ?? pod.spec?.nodeSelector?.['kubernetes.io/hostname']
}

const statusFields = [
  'desiredNumberScheduled',
  'currentNumberScheduled',
  'updatedNumberScheduled',
  'numberReady',
  'numberAvailable',
  'numberUnavailable',
  'numberMisscheduled',
] as const

function projectDaemonSet(daemonSet: DaemonSet): Projection {
  const { metadata, spec, status } = daemonSet
  return {
    name: metadata.name,
    uid: metadata.uid,
    generation: metadata.generation,
    observed: status?.observedGeneration,
    strategy: spec.updateStrategy,
    minReadySeconds: spec.minReadySeconds ?? 0,
    labels: metadata.labels,
    annotations: metadata.annotations,
    placement: placementOf(spec.template),
    template: digest(spec.template),
    ...pinsOf(spec.template),
    rest: restDigest(daemonSet),
    deleting: metadata.deletionTimestamp !== undefined,
    status: Object.fromEntries(statusFields.map((field) => [field, status?.[field] ?? 0])),
    collisions: (status as { readonly collisionCount?: number } | undefined)?.collisionCount,
  }
}

function projectNode(node: Node): Projection {
  return {
    name: node.metadata.name,
    labels: node.metadata.labels,
    taints: node.spec?.taints ?? [],
    unschedulable: node.spec?.unschedulable ?? false,
    ...markOf(node),
    ready: readyCondition(node)?.status,
    ...trueConditions(node),
    ...drainOf(node),
    deleting: node.metadata.deletionTimestamp !== undefined,
  }
}

function markOf({ metadata }: Node): Projection {
  const cordonMark = metadata.annotations?.['tranche.dev/cordon']
  return cordonMark === undefined ? {} : { cordonMark }
}

function trueConditions({ status }: Node): { readonly conditions?: readonly string[] } {
  const isOther = ({ type, reason }: Condition): boolean => type !== 'Ready' && (type !== 'DrainInProgress' || reason !== 'TrancheDrain')
  const conditions = (status?.conditions ?? []).filter((condition) => isOther(condition) && condition.status === 'True')
  return conditions.length === 0 ? {} : { conditions: conditions.map(({ type }) => type) }
}

/** Status and reason of the condition `DrainInProgress`, if the node has it. */
function drainOf({ status }: Node): Projection {
  const condition = status?.conditions?.find(({ type }) => type === 'DrainInProgress')
  return condition === undefined ? {} : { drain: { status: condition.status, reason: condition.reason, message: condition.message } }
}

function projectRevision(revision: ControllerRevision): Projection {
  return {
    name: revision.metadata.name,
    uid: revision.metadata.uid,
    revision: revision.revision,
    hash: revision.metadata.labels?.['controller-revision-hash'],
    owner: controllerOf(revision)?.name,
    ownerUid: controllerOf(revision)?.uid,
    template: templateDigest(revision.data),
    ...pinsOf((revision.data as { readonly spec?: { readonly template?: PodTemplate } } | undefined)?.spec?.template),
  }
}

function placementOf({ spec }: PodTemplate): Projection {
  const { nodeName, nodeSelector, hostNetwork, tolerations, affinity } = spec ?? {}
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const nodeSelectorTerms = required === undefined ? undefined : (required.nodeSelectorTerms ?? [])
  return { nodeName, nodeSelector, hostNetwork, tolerations, nodeSelectorTerms }
}

/** Digest of everything that a writer may change and no other field of the projection holds. */
function restDigest({ metadata, spec }: DaemonSet): string {
  const { template: _template, updateStrategy: _strategy, minReadySeconds: _seconds, ...others } = spec
  return digest({ spec: others, owners: metadata.ownerReferences ?? [], finalizers: metadata.finalizers ?? [] })
}

/** A ControllerRevision holds the template as a strategic merge patch that replaces all of it. */
function templateDigest(data: unknown): string | undefined {
  const template = (data as { readonly spec?: { readonly template?: object } } | undefined)?.spec?.template
  return template === undefined ? undefined : digest({ ...template, $patch: undefined })
}

function readyCondition(object: Node | Pod): { readonly status: string; readonly lastTransitionTime?: string } | undefined {
  return object.status?.conditions?.find(({ type }) => type === 'Ready')
}
