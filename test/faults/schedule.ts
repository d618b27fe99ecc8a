import type { OnDeletePolicy, ReleasePolicySpec, Rollout, ActionType } from '@tranche/api-schema'

/** Steps as a Rollout has them. */
export type Steps = NonNullable<NonNullable<Rollout['spec']['strategy']['canary']>['steps']>

/** Kind of one of our programs. */
export type Role = 'controller' | 'executor' | 'api'

/** A slot in which a program runs; when it is killed, another program takes the slot. */
export type Slot = 'controller-a' | 'controller-b' | 'executor-a' | 'executor-b' | 'api-a' | 'api-b'

/** The slots of controllers and executors, which every world has. */
export const slots: readonly Slot[] = ['controller-a', 'controller-b', 'executor-a', 'executor-b']
/** The slots of the REST API, in worlds with upgrades; in those with odd statuses, the first of them. */
export const apiSlots: readonly Slot[] = ['api-a', 'api-b']

/** @returns all slots of a world */
export function slotsOf({ upgrades, incidents }: Pick<Schedule, 'upgrades' | 'incidents'>): readonly Slot[] {
  if (upgrades > 0) return [...slots, ...apiSlots]
  return incidents.some(({ kind }) => kind === 'spoilStatus') ? [...slots, 'api-a'] : slots
}

/** @returns the kind of program that runs in a slot */
export function roleOf(slot: Slot): Role {
  return slot.split('-', 1)[0] as Role
}

/** The world before any fault. Durations are in milliseconds. */
export interface Shape {
  readonly nodes: number
  /** How new templates are admitted. Without upgrades admission is in process or absent. */
  readonly admission: 'none' | 'inProcess' | 'policy' | 'webhook'
  /** `shared`: one queue for all programs; `own`: every executor wakes itself. */
  readonly queue: 'shared' | 'own'
  /** Strategy in Git. */
  readonly declares: 'RollingUpdate' | 'OnDelete'
  /** Whether pods tolerate every taint, like those of an agent that must run everywhere. */
  readonly toleratesAll: boolean
  /** Whether a rollback in mid-release follows the steps. */
  readonly rollbackInBatch: boolean
  /** Lease duration of the controllers, in seconds. */
  readonly leaseSeconds: number
  readonly steps: Steps
  /** The ReleasePolicy that the Rollout names; null if it names none. */
  readonly policy: ReleasePolicySpec | null
  readonly maxUnavailable: number | string
  readonly minReadySeconds: number
  readonly watchDelayMs: number
  readonly startMs: number
  readonly stopMs: number
  /** CPUs that the agent requests, as `500m`; absent: none. */
  readonly cpu?: string
  /** ConfigMaps that the template reads; absent: none. */
  readonly config?: WorldConfig
  /** Another DaemonSet that is released in the same group; absent: none. */
  readonly companion?: CompanionShape
  /** Whether drained nodes get the condition `DrainInProgress`; absent: they do not. */
  readonly drainConditions?: boolean
  /** Whether policies may lock nodes; absent: they may not. */
  readonly nodeLocks?: boolean
  /** Whether policies may limit downtime; absent: they may not. */
  readonly downtimes?: boolean
  /** Whether executors may create helper pods; absent: they may not. */
  readonly prePull?: boolean
}

/** Config of the agent. */
export interface WorldConfig {
  /** `plain`: its name carries no hash; `hashed`: it does; `immutable`: it carries none, but the object is immutable. */
  readonly kinds: readonly ('plain' | 'hashed' | 'immutable')[]
  /** Whether controllers read which ConfigMaps are immutable. */
  readonly isRead: boolean
  /** Whether policies pin config; absent: they do not, and the installation does not allow it. */
  readonly isPinned?: boolean
  /** Whether the template reads a Secret as well, which is pinned where config is; absent: it reads none. */
  readonly secret?: boolean
}

/** Another DaemonSet of the group. */
export interface CompanionShape {
  /** No step waits for a person. */
  readonly steps: Steps
  readonly maxUnavailable: number
}

/** Label by which steps and policies select nodes. */
export const ZONE = 'topology.kubernetes.io/zone'
/** Namespace of the companion. */
export const COMPANION = 'company'
/** Name of the group of both DaemonSets. */
export const GROUP = 'agents'
/** Namespace of the Leases of nodes. */
export const NODE_LEASES = 'medik8s-leases'
/** Namespace of the Leases of groups. */
export const GROUP_LEASES = 'kube-system'

/**
 * An operation as data; its target is drawn when the schedule is made. `pick` chooses among the objects that exist at that time, by name.
 */
export type Operation =
  | CompanionOperation
  | ProcessOperation
  | ApiOperation
  | ClusterOperation
  | TenantOperation
  | OwnerOperation
  | Ask
  | Upgrade

/** The template of the companion changes. */
export interface CompanionOperation {
  readonly kind: 'companionTemplate'
  readonly tag: string
}

/** Faults of one of our programs. */
export type ProcessOperation =
  | { readonly kind: 'kill'; readonly slot: Slot; readonly downMs: number }
  /** @see Process.freeze; `replaced`: another program starts beside it meanwhile */
  | { readonly kind: 'freeze'; readonly slot: Slot; readonly forMs: number; readonly replaced: boolean }
  /** Hits the next program of this role that passes the point for the (`skip` + 1)th time. */
  | {
      readonly kind: 'trap'
      readonly role: Role
      readonly point: string
      readonly skip: number
      readonly mode: 'kill' | 'freeze' | 'hang'
      readonly forMs: number
    }
  /** Freezes when the next write of this kind is decided and not sent. */
  | { readonly kind: 'freezeBefore'; readonly slot: Slot; readonly write: string; readonly forMs: number }
  | { readonly kind: 'cutOff'; readonly slot: Slot; readonly forMs: number }
  /** Steps the wall clock of one program's machine. */
  | { readonly kind: 'stepOwnClock'; readonly slot: Slot; readonly ms: number }

/** Faults between programs, API server and queue. */
export type ApiOperation =
  /** A fraction of requests and of events fails or is delayed, each in a way that its number determines. */
  | {
      readonly kind: 'faultPhase'
      readonly who: Role | 'ours' | 'native'
      readonly requests: number
      readonly events: number
      readonly mostDelayMs: number
      readonly forMs: number
    }
  /** Every event of this resource (null: of all) reaches the program late. */
  | { readonly kind: 'lag'; readonly slot: Slot; readonly resource: string | null; readonly ms: number; readonly forMs: number }
  /** Published targets are lost, doubled and delayed. */
  | { readonly kind: 'badQueue'; readonly lost: number; readonly doubled: number; readonly mostDelayMs: number; readonly forMs: number }
  /** Steps the wall clock of API server, native controllers and kubelets. */
  | { readonly kind: 'stepServerClock'; readonly ms: number }
  /** OpenKruise's CustomResourceDefinitions, which lack some of our fields, replace ours, and ours are restored. */
  | { readonly kind: 'swapDefinitions'; readonly forMs: number }

/** Events of nodes and pods that Tranche does not cause. */
export type ClusterOperation =
  | { readonly kind: 'addNode'; readonly name: string }
  | { readonly kind: 'removeNode'; readonly pick: number }
  | { readonly kind: 'silenceNode'; readonly pick: number; readonly forMs: number }
  /** The kubelet falls silent. A minute later, and for this time, a person takes its node out of service: Kubernetes deletes its pods. */
  | { readonly kind: 'outOfService'; readonly pick: number; readonly forMs: number }
  /** A condition takes the node out of service; `isSilent`: its kubelet is silent as well, as while its machine restarts. */
  | { readonly kind: 'drainByOther'; readonly pick: number; readonly leaves: 'False' | 'nothing'; readonly forMs: number }
  | { readonly kind: 'maintain'; readonly pick: number; readonly condition: string; readonly isSilent: boolean; readonly forMs: number }
  | { readonly kind: 'cordon'; readonly pick: number; readonly forMs: number }
  | { readonly kind: 'taint'; readonly pick: number; readonly effect: 'NoSchedule' | 'NoExecute'; readonly forMs: number }
  /** A zone outage: the kubelets of this fraction of the nodes fall silent at once, and return at once. */
  | { readonly kind: 'zoneOutage'; readonly pick: number; readonly share: number; readonly forMs: number }
  /** A pool of this fraction of the nodes is tainted for a while. */
  | {
      readonly kind: 'taintPool'
      readonly pick: number
      readonly share: number
      readonly effect: 'NoSchedule' | 'NoExecute'
      readonly forMs: number
    }
  | { readonly kind: 'deletePod'; readonly pick: number; readonly evict: boolean }
  | { readonly kind: 'failPod'; readonly pick: number }
  | { readonly kind: 'stickPod'; readonly pick: number; readonly forMs: number }
  | { readonly kind: 'quota'; readonly forMs: number }
  /** Another pod fills the node, and a second one waits for its room, both for a while. Only where the agent requests something. */
  | { readonly kind: 'crowd'; readonly pick: number; readonly forMs: number }
  /** The node reaches no registry for a while. */
  | { readonly kind: 'noRegistry'; readonly pick: number; readonly forMs: number }
  /**
   * Another program takes the Lease of the node, if it is free. It renews it, and gives it back in the end, or forgets it at once (`crashes`).
   */
  | { readonly kind: 'holdNode'; readonly pick: number; readonly seconds: number; readonly crashes: boolean; readonly forMs: number }
  /** A pod that uses the agent runs on the node for a while. `kept`: a budget, or a finalizer, keeps it there until then. */
  | { readonly kind: 'consume'; readonly pick: number; readonly kept: 'not' | 'budget' | 'finalizer'; readonly forMs: number }

/**
 * Operations of a tenant in their own namespace, on objects that name the DaemonSet and the Rollout of another one. Forged objects
 * without an end stay, after the storm too.
 */
export type TenantOperation =
  /** `copies`: the part that is equal in a ControllerRevision of the DaemonSet. */
  | {
      readonly kind: 'forgeRevision'
      readonly pick: number
      readonly copies: 'hash' | 'template' | 'nothing'
      readonly number: 'same' | 'oldest' | 'newest'
    }
  /** `stuck`: the pod terminates, and never disappears. */
  | { readonly kind: 'forgePod'; readonly pick: number; readonly phase: 'running' | 'failed' | 'stuck' }
  | { readonly kind: 'forgeRelease'; readonly forMs: number }
  | { readonly kind: 'copyAgent'; readonly tag: string; readonly forMs: number }
  /** Odd times in the statuses of the tenant's own Rollout and BatchRelease. `hasAgent`: the Rollout releases a DaemonSet. */
  | { readonly kind: 'spoilStatus'; readonly hasAgent: boolean; readonly everyMs: number; readonly forMs: number }

/** Ways to approve: like `kubectl kruise`, by the annotation, over REST, or by an annotation that names the step before. */
export type ApprovedBy = 'status' | 'action' | 'rest' | 'lateAction'

/** Operations of people and of GitOps tools. */
export type OwnerOperation =
  /** `whole`: a Git tool applies the whole manifest with its strategy; otherwise only the image changes. */
  | { readonly kind: 'template'; readonly tag: string; readonly whole: boolean }
  /** Applies the manifest in Git again. */
  | { readonly kind: 'reapply' }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'approve'; readonly by: ApprovedBy }
  | { readonly kind: 'jump'; readonly step: number; readonly by: 'status' | 'action' }
  | { readonly kind: 'act'; readonly type: 'promote' | 'abort' | 'retry' }
  /** The handling of a release when its Rollout is disabled or deleted; null: not set. */
  | { readonly kind: 'onDelete'; readonly policy: OnDeletePolicy | null }
  | { readonly kind: 'steps'; readonly steps: Steps }
  /** The policy has this content from now on. */
  | { readonly kind: 'policy'; readonly spec: ReleasePolicySpec }
  /** The policy breaks its rules for a while. */
  | { readonly kind: 'spoilPolicy'; readonly forMs: number }
  | { readonly kind: 'deletePolicy'; readonly forMs: number }
  /** The Rollout names a policy, or none. */
  | { readonly kind: 'namePolicy'; readonly isNamed: boolean }
  | { readonly kind: 'budget'; readonly maxUnavailable: number | string }
  | { readonly kind: 'minReady'; readonly seconds: number }
  | { readonly kind: 'disable'; readonly forMs: number }
  | { readonly kind: 'deleteRollout'; readonly forMs: number }
  | { readonly kind: 'deleteDaemonSet'; readonly forMs: number }
  /** A client deletes the BatchRelease; `Foreground`: it stays until its finalizers are gone. Another program keeps it for `keptMs`. */
  | { readonly kind: 'deleteRelease'; readonly propagation: 'Background' | 'Foreground'; readonly keptMs?: number }
  /** The policy pins config from now on. */
  | { readonly kind: 'pinConfig' }
  /** The plain ConfigMap has this content from now on. */
  | { readonly kind: 'writeConfig'; readonly level: string }
  | { readonly kind: 'deleteConfig'; readonly forMs: number }
  /** The Secret has this content from now on. */
  | { readonly kind: 'writeSecret'; readonly level: string }
  | { readonly kind: 'deleteSecret'; readonly forMs: number }
  /** The policy for pods, or its binding, is deleted for a while: new pods read config itself. */
  | { readonly kind: 'liftPodPolicy'; readonly part: 'policy' | 'binding'; readonly forMs: number }
  /** A user labels the Secret: its version changes, and its content does not. */
  | { readonly kind: 'labelSecret'; readonly label: string }

/** A person looks at the release over REST, and then asks the API for an action. */
export interface Ask {
  readonly kind: 'ask'
  readonly type: ActionType
  /** Time between the look and the action. */
  readonly lookedMs: number
  /** How long the API waits for the controller's answer. */
  readonly waitMs: number
}

/**
 * All our programs, and admission, are replaced by those of the other version, in mid-release. If no release is in progress, one starts.
 * The Deployments are replaced side by side.
 */
export interface Upgrade {
  readonly kind: 'upgrade'
  /** `rolling`: one more process is ready before one ends. `atOnce`: all processes of a Deployment end, and then others start. */
  readonly manner: 'rolling' | 'atOnce'
  /** Whether processes are asked to end, and killed if they do not, or killed at once. */
  readonly ends: 'asked' | 'killed'
  /** Whether the definitions of the next version stay when the present one returns, or go back as in a rollback of the chart. */
  readonly definitions: 'stay' | 'goBack'
  /** How long a release is in progress before the upgrade. */
  readonly afterMs: number
  /** Delay before the first process of each Deployment is replaced. */
  readonly controllersAfterMs: number
  readonly executorsAfterMs: number
  readonly apisAfterMs: number
  /** The request to the API before the end of each of its processes, and how long before. */
  readonly asks: readonly Ask[]
  readonly askedBeforeMs: number
  /** When policies or webhook configurations are replaced: before the first process, in between, or after the last. */
  readonly admission: 'first' | 'between' | 'last'
  /** How long admission is uninstalled between the old version and the new one; 0: each object is overwritten. */
  readonly admissionAwayMs: number
  /** Delay between the end of one process and the start of the next. */
  readonly gapMs: number
}

/** An operation at a time, in milliseconds after the Rollout was first Healthy. */
export type Incident = Operation & { readonly atMs: number }

/** Everything that a seed decides, before it is played. */
export interface Schedule {
  readonly seed: number
  readonly shape: Shape
  /** After this time, all remaining faults end. */
  readonly stormMs: number
  /** By `atMs`. */
  readonly incidents: readonly Incident[]
  /**
   * How far the clocks of machines are ahead of the API server's, in milliseconds: of the machine of each program as it starts, in
   * rotation; at least one.
   */
  readonly aheadMs: readonly number[]
  /** Number of upgrades that were drawn beside the incidents of the seed. */
  readonly upgrades: number
}
