/** The fields of Kubernetes objects that Tranche reads. Times are RFC 3339 strings, as on the wire. */

/** A whole number or a percentage such as `"30%"`. */
export type IntOrString = number | string

/** @see meta/v1 OwnerReference */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** @see meta/v1 ObjectMeta, as served: name, uid and resourceVersion are always set. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly resourceVersion: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  /** Grace period of the deletion, in seconds; 0 if only finalizers keep the object. */
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
}

/** Any API object, as served. */
export interface KubeObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
}

/** @see meta/v1 LabelSelector */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>> | undefined
  readonly matchExpressions?: readonly LabelSelectorRequirement[] | undefined
}

/** @see meta/v1 LabelSelectorRequirement */
export interface LabelSelectorRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[] | undefined
}

/** @see core/v1 Toleration */
export interface Toleration {
  readonly key?: string
  readonly operator?: string
  readonly value?: string
  readonly effect?: string
  readonly tolerationSeconds?: number
}

/** @see core/v1 Taint */
export interface Taint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

/** @see core/v1 NodeSelectorTerm */
export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly LabelSelectorRequirement[]
  readonly matchFields?: readonly LabelSelectorRequirement[]
}

/** Fields of a pod template that decide where its pods may run. @see core/v1 PodSpec */
export interface PodPlacement {
  readonly nodeName?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly hostNetwork?: boolean
  readonly tolerations?: readonly Toleration[]
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly nodeSelectorTerms?: readonly NodeSelectorTerm[] }
    }
  }
}

/** @see core/v1 PodTemplateSpec */
export interface PodTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>>; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec?: PodPlacement & { readonly containers?: readonly { readonly name: string; readonly image?: string }[] }
}

/** @see apps/v1 DaemonSet */
export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly selector?: LabelSelector
    readonly template: PodTemplate
    readonly minReadySeconds?: number
    readonly revisionHistoryLimit?: number
    readonly updateStrategy?: {
      readonly type?: string
      readonly rollingUpdate?: { readonly maxUnavailable?: IntOrString; readonly maxSurge?: IntOrString }
    }
  }
  readonly status?: {
    readonly observedGeneration?: number
    readonly desiredNumberScheduled?: number
    readonly currentNumberScheduled?: number
    readonly updatedNumberScheduled?: number
    readonly numberReady?: number
    readonly numberAvailable?: number
    readonly numberUnavailable?: number
    readonly numberMisscheduled?: number
    readonly collisionCount?: number
  }
}

/** @see apps/v1 ControllerRevision; `data` of a DaemonSet's revision is `{spec: {template}}` with a `$patch` directive. */
export interface ControllerRevision extends KubeObject {
  readonly revision: number
  readonly data?: unknown
}

/** @see core/v1 Node */
export interface Node extends KubeObject {
  readonly spec?: { readonly taints?: readonly Taint[]; readonly unschedulable?: boolean }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

/** A condition of a node or pod. */
export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
  readonly lastTransitionTime?: string
}

/** @see core/v1 ContainerStatus */
export interface ContainerStatus {
  readonly name: string
  readonly ready?: boolean
  readonly restartCount?: number
  readonly state?: {
    readonly waiting?: { readonly reason?: string; readonly message?: string }
    readonly terminated?: ContainerEnd
  }
  readonly lastState?: { readonly terminated?: ContainerEnd }
}

/** @see core/v1 ContainerStateTerminated */
export interface ContainerEnd {
  readonly reason?: string
  readonly exitCode?: number
  readonly message?: string | undefined
}

/** @see core/v1 Pod */
export interface Pod extends KubeObject {
  readonly spec?: PodPlacement
  readonly status?: {
    readonly phase?: string
    readonly reason?: string
    readonly message?: string
    readonly startTime?: string
    readonly conditions?: readonly Condition[]
    readonly initContainerStatuses?: readonly ContainerStatus[]
    readonly containerStatuses?: readonly ContainerStatus[]
  }
}

/** @see coordination.k8s.io/v1 Lease */
export interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly acquireTime?: string
    readonly renewTime?: string
    readonly leaseTransitions?: number
  }
}

/** Namespace and name of an object. */
export interface ObjectKey {
  readonly namespace: string
  readonly name: string
}
