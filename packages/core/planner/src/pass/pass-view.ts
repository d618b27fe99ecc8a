import type { FlightRecord, ReleaseNodeRules } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'

/** What the DaemonSet says to executors. */
export interface PublishedTarget {
  readonly uid: string
  /** `metadata.generation`. */
  readonly generation: number
  /** `status.observedGeneration`. */
  readonly observedGeneration: number
  /** UID of the BatchRelease that control-info names; undefined without one. */
  readonly controlledBy: string | undefined
  readonly canaryRevision: string | undefined
  readonly stableRevision: string | undefined
  /** Nodes to keep on the old revision; undefined where the annotation is missing or no number. */
  readonly partition: number | undefined
  /** The annotation `tranche.dev/paused` is there. */
  readonly paused: boolean
  readonly strategy: string
  /** The annotation `in-progressing` is there: the release of a Rollout runs. */
  readonly inProgress: boolean
  readonly minReadySeconds: number
}

/** What a live read has said of a permit that is over by the clock alone, or because our view does not have its node (F6). */
export type Confirmation =
  /** It has settled, or its node has left, for good. */
  | { readonly kind: 'confirmed' }
  /**
   * The read failed, or told another story than our view. Not asked again before `againAtMs` (monotonic) unless our view of the pod
   * moves from `podVersion`, which is null where a node was asked about.
   */
  | { readonly kind: 'open'; readonly podVersion: string | null; readonly againAtMs: number }

/** Everything one pass of an executor over one DaemonSet has read. */
export interface PassView {
  readonly published: PublishedTarget
  /** UID of the BatchRelease that holds the record. */
  readonly releaseUid: string
  /** The permit record; undefined before the first. */
  readonly record: FlightRecord | undefined
  /** Which nodes a batch may take, as the BatchRelease says it beside the record; undefined: every node. */
  readonly nodes?: ReleaseNodeRules | undefined
  readonly fleet: FleetView
  /** How far this process's pod watch has got (rule F2). */
  readonly podsSeen: string
  /** Permits this process has sent a delete for, whose outcome its watch has not shown yet; by permit id. */
  readonly sent: ReadonlySet<string>
  /** What this process has read, by permit id. Only ever saves requests: what is missing is read again. */
  readonly confirmations: ReadonlyMap<string, Confirmation>
  /** The new version is bad, or an analysis says so, and nobody has lifted that: nothing may be chosen or sent. */
  readonly isBad: boolean
  /** Now, on the monotonic clock that stamped the pods. */
  readonly monotonicMs: number
}
