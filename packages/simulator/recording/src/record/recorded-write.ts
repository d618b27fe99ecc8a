/**
 * One line of a recording: a write that the API server accepted, in order of acceptance.
 *
 * The first five fields are those of a watch recorder. The others say who wrote and how; they are absent when the recorder could only
 * watch.
 */
export interface RecordedWrite {
  /** Epoch milliseconds by the server's clock; may have a fraction. */
  readonly t: number
  /** `LIST`: the object existed when a watch-only recording started. */
  readonly type: 'LIST' | 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly kind: string
  readonly rv: number
  /** Projection of the object, see {@link RecordedPod}; kinds without a projection are stored whole. */
  readonly o: Readonly<Record<string, unknown>>
  /** Name of the user or controller that sent the request. */
  readonly actor?: string
  readonly verb?: string
  /** Plural, with the subresource: `pods/status`. */
  readonly resource?: string
  readonly uid?: string
  /** Node of a pod; its own name for a Node. */
  readonly node?: string
  readonly namespace?: string
  /** When the request arrived, on the same clock; only when that was before `t`. */
  readonly sent?: number
  /** Preconditions of a delete. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  /** Resource version that the write required; absent when it required none. */
  readonly basedOn?: number
}

/** `resource` of a write by which a pod is evicted. */
export const EVICTION = 'pods/eviction'

/** Recorded fields of a pod. Watch-only recorders keep fewer. */
export interface RecordedPod {
  readonly name: string
  readonly uid: string
  /** Name of the controlling owner. */
  readonly owner?: string
  readonly ownerUid?: string
  /** Node that the pod runs on or is meant for. */
  readonly node?: string
  /** Whether it runs on the node, and is not only meant for it. Absent when unknown. */
  readonly bound?: boolean
  /** True if the scheduler has found no node for it; absent otherwise. */
  readonly unschedulable?: boolean
  /** True if a container requests or limits a resource, or takes a port of the node; absent otherwise. */
  readonly requests?: boolean
  /** `controller-revision-hash` of the release for which it pulls images; absent for all other pods. */
  readonly helper?: string
  /** Images of its containers, without init containers. */
  readonly images?: readonly string[]
  /** Labels; absent for pods of a DaemonSet. So are the next three fields, and those that are empty. */
  readonly labels?: Readonly<Record<string, string>>
  /** Extended resources that its containers request. */
  readonly extended?: readonly string[]
  /** CSI drivers of its inline volumes. */
  readonly drivers?: readonly string[]
  /** Names of the claims that it mounts. */
  readonly claims?: readonly string[]
  /** Names of the ConfigMaps that it reads; only for pods of a DaemonSet that read one. */
  readonly config?: readonly string[]
  /** The same of Secrets. */
  readonly secrets?: readonly string[]
  /** `controller-revision-hash`. */
  readonly hash?: string
  readonly created?: string
  readonly phase?: string
  readonly ready: boolean
  /** `lastTransitionTime` of the Ready condition, in whole seconds. */
  readonly readyAt?: string
  /** Whether it has a deletion timestamp. */
  readonly deleting: boolean
  /** First reason given for a waiting or terminated container. */
  readonly waiting?: string
}

/** Recorded fields of a node. */
export interface RecordedNode {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[]
  /** Whether it takes no new pods. */
  readonly unschedulable?: boolean
  /** Annotation `tranche.dev/cordon`; absent without it. */
  readonly cordonMark?: string
  /** Status of the Ready condition. */
  readonly ready?: string
  /** Types of the other conditions that are True, without that of a drain by Tranche; absent when none is. */
  readonly conditions?: readonly string[]
  /** The condition `DrainInProgress`, of Tranche or another program; absent without it. */
  readonly drain?: { readonly status: string; readonly reason?: string; readonly message?: string }
}

/** Recorded fields of a DaemonSet. */
export interface RecordedDaemonSet {
  readonly name: string
  readonly uid?: string
  readonly generation?: number
  /** `status.observedGeneration`. */
  readonly observed?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly minReadySeconds?: number
  readonly strategy?: {
    readonly type?: string
    readonly rollingUpdate?: { readonly maxUnavailable?: number | string; readonly maxSurge?: number | string }
  }
  /** Placement rules of the template. */
  readonly placement?: RecordedPlacement
  /** Digest of the template. */
  readonly template?: string
  /** Copies of config that the template names, as its annotation holds them; absent where it names none. So is the next field. */
  readonly pins?: string
  /** Digest of the template without them. */
  readonly unpinned?: string
  /** Digest of all metadata and spec that a writer may change and no other field here holds. */
  readonly rest?: string
  readonly deleting?: boolean
}

/** Parts of a pod template that decide where its pods may run. @see core/v1 PodSpec */
export interface RecordedPlacement {
  readonly nodeName?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly hostNetwork?: boolean
  readonly tolerations?: readonly { readonly key?: string; readonly operator?: string; readonly value?: string; readonly effect?: string }[]
  /** Terms of the required node affinity; absent when there is none. */
  readonly nodeSelectorTerms?: readonly RecordedTerm[]
}

/** @see core/v1 NodeSelectorTerm */
export interface RecordedTerm {
  readonly matchExpressions?: readonly RecordedRequirement[]
  readonly matchFields?: readonly RecordedRequirement[]
}

/** @see core/v1 NodeSelectorRequirement */
export interface RecordedRequirement {
  readonly key: string
  readonly operator: string
  readonly values?: readonly string[]
}

/** Recorded fields of a ControllerRevision. */
export interface RecordedRevision {
  readonly name: string
  readonly hash?: string
  readonly revision?: number
  readonly ownerUid?: string
  /** Digest of its template, as in {@link RecordedDaemonSet}. */
  readonly template?: string
  /** As in {@link RecordedDaemonSet}. */
  readonly pins?: string
}
