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
}

/** What a recording keeps of a pod. */
export interface RecordedPod {
  readonly name: string
  readonly uid: string
  /** Name of the controlling owner. */
  readonly owner?: string
  /** Node it runs on or is meant for. */
  readonly node?: string
  /** `controller-revision-hash`. */
  readonly hash?: string
  readonly ready: boolean
  /** Has a deletion timestamp. */
  readonly deleting: boolean
}
