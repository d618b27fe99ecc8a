/**
 * One line of a recording: a write that the API server accepted, in the order of acceptance.
 *
 * The first five fields are those of a watch recorder; the others say who wrote and how, and are missing where the
 * recorder could only watch.
 */
export interface RecordedWrite {
  /** When, in epoch milliseconds by the server's clock; may have a fraction. */
  readonly t: number
  /** `LIST` is what existed when a recording that only watches began. */
  readonly type: 'LIST' | 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly kind: string
  readonly rv: number
  /** Projection of the object: see {@link RecordedPod}; kinds without a projection are whole. */
  readonly o: Readonly<Record<string, unknown>>
  /** Name of the user or controller that sent the request. */
  readonly actor?: string
  readonly verb?: string
  /** Plural, with the subresource: `pods/status`. */
  readonly resource?: string
  readonly uid?: string
  /** Node of a pod; the node's own name for a Node. */
  readonly node?: string
  readonly namespace?: string
  /** When the request came in, on the same clock; only where that was before `t`. */
  readonly sent?: number
  /** What a delete asked for. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  /** The version that a write asked the object to have still; absent where it asked for none. */
  readonly basedOn?: number
}

/** What a recording keeps of a pod. Recorders that only watch keep less of it. */
export interface RecordedPod {
  readonly name: string
  readonly uid: string
  /** Name of the controlling owner. */
  readonly owner?: string
  readonly ownerUid?: string
  /** Node it runs on or is meant for. */
  readonly node?: string
  /** `controller-revision-hash`. */
  readonly hash?: string
  readonly created?: string
  readonly phase?: string
  readonly ready: boolean
  /** Since when `ready` has its value (`lastTransitionTime`), as the kubelet stamps it: whole seconds. */
  readonly readyAt?: string
  /** Has a deletion timestamp. */
  readonly deleting: boolean
  /** Reason why a container waits or has ended, of the first that says one. */
  readonly waiting?: string
}

/** What a recording keeps of a node. */
export interface RecordedNode {
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[]
  /** Status of the condition Ready. */
  readonly ready?: string
}

/** What a recording keeps of a DaemonSet. */
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
  /** Of the template: what decides where its pods may run. */
  readonly placement?: RecordedPlacement
  /** Digest of the template. */
  readonly template?: string
  /** Digest of all of metadata and spec that stands in no other field here and that a writer may change. */
  readonly rest?: string
  readonly deleting?: boolean
}

/** What of a pod template decides where its pods may run. @see core/v1 PodSpec */
export interface RecordedPlacement {
  readonly nodeName?: string
  readonly nodeSelector?: Readonly<Record<string, string>>
  readonly hostNetwork?: boolean
  readonly tolerations?: readonly { readonly key?: string; readonly operator?: string; readonly value?: string; readonly effect?: string }[]
  /** Terms of the required node affinity; absent where there is none. */
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

/** What a recording keeps of a ControllerRevision. */
export interface RecordedRevision {
  readonly name: string
  readonly hash?: string
  readonly revision?: number
  readonly ownerUid?: string
  /** Digest of the template that it holds, as in {@link RecordedDaemonSet}. */
  readonly template?: string
}
