import type { OnDeletePolicy, ReleasePolicySpec, Rollout, ActionType } from '@tranche/api-schema'

/** Steps as a Rollout has them. */
export type Steps = NonNullable<NonNullable<Rollout['spec']['strategy']['canary']>['steps']>

/** What one of our programs is. */
export type Role = 'controller' | 'executor' | 'api'

/** A place in which a program runs; one that was killed is followed there by another. */
export type Slot = 'controller-a' | 'controller-b' | 'executor-a' | 'executor-b' | 'api-a' | 'api-b'

/** The places of controllers and executors, which every world has. */
export const slots: readonly Slot[] = ['controller-a', 'controller-b', 'executor-a', 'executor-b']
/** The places of the REST API, in worlds with upgrades. */
export const apiSlots: readonly Slot[] = ['api-a', 'api-b']

/** All places of a world. */
export function slotsOf({ upgrades }: Pick<Schedule, 'upgrades'>): readonly Slot[] {
  return upgrades > 0 ? [...slots, ...apiSlots] : slots
}

/** @returns what runs in a place */
export function roleOf(slot: Slot): Role {
  return slot.split('-', 1)[0] as Role
}

/** What the world is made of before anything goes wrong. Durations are in milliseconds. */
export interface Shape {
  readonly nodes: number
  /** How a new template is looked at before it is stored. Without upgrades it is in process where there is any. */
  readonly admission: 'none' | 'inProcess' | 'policy' | 'webhook'
  /** `shared`: one queue between all programs; `own`: every executor wakes itself. */
  readonly queue: 'shared' | 'own'
  /** What Git says of the strategy. */
  readonly declares: 'RollingUpdate' | 'OnDelete'
  /** Whether pods tolerate every taint, as those of an agent that must be everywhere. */
  readonly toleratesAll: boolean
  /** Whether a rollback in mid-release walks the steps. */
  readonly rollbackInBatch: boolean
  /** Seconds, as the Lease of the controllers has it. */
  readonly leaseSeconds: number
  readonly steps: Steps
  /** The ReleasePolicy that the Rollout names; null: it names none. */
  readonly policy: ReleasePolicySpec | null
  readonly maxUnavailable: number | string
  readonly minReadySeconds: number
  readonly watchDelayMs: number
  readonly startMs: number
  readonly stopMs: number
}

/** What happens, as data: who and what is drawn when the schedule is made. `pick` chooses among what is there, by name. */
export type Operation = ProcessOperation | ApiOperation | ClusterOperation | TenantOperation | OwnerOperation | Ask | Upgrade

/** What happens to one of our programs. */
export type ProcessOperation =
  | { readonly kind: 'kill'; readonly slot: Slot; readonly downMs: number }
  /** @see Process.freeze; `replaced`: another is started beside it meanwhile */
  | { readonly kind: 'freeze'; readonly slot: Slot; readonly forMs: number; readonly replaced: boolean }
  /** The next program of this role to pass the point for the (`skip` + 1)th time is struck there. */
  | {
      readonly kind: 'trap'
      readonly role: Role
      readonly point: string
      readonly skip: number
      readonly mode: 'kill' | 'freeze' | 'hang'
      readonly forMs: number
    }
  /** Freezes with the next write of this sort decided and not sent. */
  | { readonly kind: 'freezeBefore'; readonly slot: Slot; readonly write: string; readonly forMs: number }
  | { readonly kind: 'cutOff'; readonly slot: Slot; readonly forMs: number }
  /** Steps the wall clock of one program's machine. */
  | { readonly kind: 'stepOwnClock'; readonly slot: Slot; readonly ms: number }

/** What happens between programs, API server and queue. */
export type ApiOperation =
  /** A share of requests and of events goes wrong, each in a way that its number decides. */
  | {
      readonly kind: 'faultPhase'
      readonly who: Role | 'ours' | 'native'
      readonly requests: number
      readonly events: number
      readonly mostDelayMs: number
      readonly forMs: number
    }
  /** Every event of this resource (all: null) reaches the program late. */
  | { readonly kind: 'lag'; readonly slot: Slot; readonly resource: string | null; readonly ms: number; readonly forMs: number }
  /** Announcements are lost, doubled and delayed. */
  | { readonly kind: 'badQueue'; readonly lost: number; readonly doubled: number; readonly mostDelayMs: number; readonly forMs: number }
  /** Steps the wall clock of API server, native controllers and kubelets. */
  | { readonly kind: 'stepServerClock'; readonly ms: number }
  /** OpenKruise's CustomResourceDefinitions are applied over ours, which lack fields of ours, and ours are put back. */
  | { readonly kind: 'swapDefinitions'; readonly forMs: number }

/** What happens to nodes and pods without us. */
export type ClusterOperation =
  | { readonly kind: 'addNode'; readonly name: string }
  | { readonly kind: 'removeNode'; readonly pick: number }
  | { readonly kind: 'silenceNode'; readonly pick: number; readonly forMs: number }
  | { readonly kind: 'cordon'; readonly pick: number; readonly forMs: number }
  | { readonly kind: 'taint'; readonly pick: number; readonly effect: 'NoSchedule' | 'NoExecute'; readonly forMs: number }
  /** A zone goes out: the kubelets of this share of the nodes fall silent at once, and come back at once. */
  | { readonly kind: 'zoneOutage'; readonly pick: number; readonly share: number; readonly forMs: number }
  /** A pool of this share of the nodes is tainted, and given back. */
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

/** What a tenant does in a namespace of their own, whose objects name the DaemonSet and the Rollout of another one. What is forged without an end stays, in the calm too. */
export type TenantOperation =
  /** `copies`: what it has of a ControllerRevision of the DaemonSet. */
  | {
      readonly kind: 'forgeRevision'
      readonly pick: number
      readonly copies: 'hash' | 'template' | 'nothing'
      readonly number: 'same' | 'oldest' | 'newest'
    }
  /** `stuck`: it terminates, and never goes. */
  | { readonly kind: 'forgePod'; readonly pick: number; readonly phase: 'running' | 'failed' | 'stuck' }
  | { readonly kind: 'forgeRelease'; readonly forMs: number }
  | { readonly kind: 'copyAgent'; readonly tag: string; readonly forMs: number }

/** How somebody approves: as `kubectl kruise` does, by the annotation, over REST, or by an annotation that names the step before. */
export type ApprovedBy = 'status' | 'action' | 'rest' | 'lateAction'

/** What people and GitOps want. */
export type OwnerOperation =
  /** `whole`: the manifest is applied, as a Git tool does it, with its strategy; else only the image changes. */
  | { readonly kind: 'template'; readonly tag: string; readonly whole: boolean }
  /** The manifest as it is in Git is applied again. */
  | { readonly kind: 'reapply' }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'approve'; readonly by: ApprovedBy }
  | { readonly kind: 'jump'; readonly step: number; readonly by: 'status' | 'action' }
  | { readonly kind: 'act'; readonly type: 'promote' | 'abort' | 'retry' }
  /** What becomes of a release whose Rollout is disabled or deleted; null: nobody says. */
  | { readonly kind: 'onDelete'; readonly policy: OnDeletePolicy | null }
  | { readonly kind: 'steps'; readonly steps: Steps }
  /** The policy says this from now on. */
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

/** Somebody looks at the release over REST, and then asks the API for something. */
export interface Ask {
  readonly kind: 'ask'
  readonly type: ActionType
  /** What passes between the look and the action. */
  readonly lookedMs: number
  /** How long the API waits for the controller's answer. */
  readonly waitMs: number
}

/**
 * All our programs, and our admission, are replaced by those of the other version, in mid-release: where no release is under way, one
 * begins. The Deployments are replaced side by side.
 */
export interface Upgrade {
  readonly kind: 'upgrade'
  /** `rolling`: one more process is ready before one goes. `atOnce`: all of a Deployment go, and then others start. */
  readonly manner: 'rolling' | 'atOnce'
  /** Whether processes are asked to end, and killed where they do not, or killed at once. */
  readonly ends: 'asked' | 'killed'
  /** Whether the definitions of the next version stay when the present one comes back, or go as with a rollback of the chart. */
  readonly definitions: 'stay' | 'goBack'
  /** How long a release is under way before. */
  readonly afterMs: number
  /** What passes before the first process of each Deployment is replaced. */
  readonly controllersAfterMs: number
  readonly executorsAfterMs: number
  readonly apisAfterMs: number
  /** What is asked of the API before one of its processes is to end, of each its own, and how long before. */
  readonly asks: readonly Ask[]
  readonly askedBeforeMs: number
  /** When policies or webhook configurations are replaced: before the first process, between, or after the last. */
  readonly admission: 'first' | 'between' | 'last'
  /** How long they are away between the old ones and the new ones; 0: one object after the other is written over. */
  readonly admissionAwayMs: number
  /** What passes between the end of one process and the start of the next. */
  readonly gapMs: number
}

/** Something that happens at a moment, in milliseconds after the Rollout was Healthy first. */
export type Incident = Operation & { readonly atMs: number }

/** Everything that a seed decides, before it is played. */
export interface Schedule {
  readonly seed: number
  readonly shape: Shape
  /** After this, what is still wrong heals. */
  readonly stormMs: number
  /** By `atMs`. */
  readonly incidents: readonly Incident[]
  /** How far the clocks of machines are ahead of the API server's, in milliseconds: of the machine of each program in turn as it starts; at least one. */
  readonly aheadMs: readonly number[]
  /** How many upgrades were drawn beside what the seed stands for. */
  readonly upgrades: number
}
