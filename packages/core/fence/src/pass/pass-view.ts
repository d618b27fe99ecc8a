import type { FlightRecord, ReleaseNodeRules } from '@tranche/api-schema'
import type { FleetView } from '@tranche/fleet'
import type { NodeReading, PreparationRules, Preparations } from '../nodes/node-check.ts'

/** Published target: data for executors in the metadata and status of the DaemonSet. */
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
  /** Nodes to keep on the old revision; undefined where the annotation is missing or not a number. */
  readonly partition: number | undefined
  /** Whether the annotation `tranche.dev/paused` exists. */
  readonly paused: boolean
  readonly strategy: string
  /** Whether the annotation `in-progressing` exists: a Rollout's release runs. */
  readonly inProgress: boolean
  readonly minReadySeconds: number
}

/** Result of a live read for a permit that is over by the clock alone, or whose node our view lacks (F6). */
export type Confirmation =
  /** The permit has settled, or its node has left, for good. */
  | { readonly kind: 'confirmed' }
  /**
   * The read failed or contradicted our view. It is not repeated before `againAtMs` (monotonic) unless our view of the pod
   * moves from `podVersion`, which is null for a question about a node.
   */
  | { readonly kind: 'open'; readonly podVersion: string | null; readonly againAtMs: number }

/** Everything one executor pass over one DaemonSet has read. */
export interface PassView {
  readonly published: PublishedTarget
  /** UID of the BatchRelease that holds the record. */
  readonly releaseUid: string
  /** The permit record; undefined before the first. */
  readonly record: FlightRecord | undefined
  /** Node rules of the BatchRelease, beside the record; undefined: every node. */
  readonly nodes?: ReleaseNodeRules | undefined
  /** Revisions that were stable once, or ran before the first release. @default none */
  readonly formerRevisions?: readonly string[] | undefined
  /** When the release began; undefined where it is unknown. See `begunAt`. */
  readonly begunAt?: string | undefined
  readonly fleet: FleetView
  /** resourceVersion that this process's pod watch has reached (rule F2). */
  readonly podsSeen: string
  /** Ids of permits for which this process sent a delete whose outcome its watch has not shown yet (L25). */
  readonly sent: ReadonlySet<string>
  /** Results of live reads, by permit id. A cache only: a missing result is read again (L25). */
  readonly confirmations: ReadonlyMap<string, Confirmation>
  /** Answers of the checks of nodes, by node name. A cache only: a missing answer is asked for again. */
  readonly checks: ReadonlyMap<string, NodeReading>
  /** What the policy asks to be done on nodes; undefined if it asks for nothing. */
  readonly preparation?: PreparationRules | undefined
  /** Preparations of this release, by node. @default nothing */
  readonly prepared?: Preparations
  /** Ids of those that this process undoes, or tried to a moment ago. @default none */
  readonly undoneLately?: ReadonlySet<string>
  /** Ids of those that this process renews, or tried to a moment ago. @default none */
  readonly renewedLately?: ReadonlySet<string>
  /** Whether the new version, or an analysis, failed and no retry has lifted that, or may have failed: nothing may be chosen or sent. */
  readonly isBad: boolean
  /** Now, on the monotonic clock that stamped the pods: the only time of a pass (L27). */
  readonly monotonicMs: number
}
