import {
  type BlockedNode,
  type BlockedReason,
  blockedReasons,
  type ClusterSnapshot,
  type GroupWaitReason,
  type ReleasePolicy,
  type ReleasePolicySpec,
} from '@tranche/api-schema'
import { liveConfigIn, pinnedObjects } from '@tranche/config'
import type { Manifests } from './planned-change.ts'

/** What the cluster reports about a release that its copy cannot show. */
export interface ReportedHolds {
  /** Why no pod is deleted, without full stop; null without a cause that outlasts the planned change. */
  readonly stop: string | null
  /** What the installation does not allow policies: reasons of their condition `Usable`. */
  readonly refused: ReadonlySet<string>
  /** Nodes that keep their pods until a check passes, which it may do by itself. */
  readonly waits: readonly BlockedNode[]
  /** Rights of the installation that only the planned policy asks for, so nothing is known about them. */
  readonly unknownRights: readonly string[]
}

/** A right that the installation gives to policies. */
interface Right {
  /** Field of the policy, and the value of the chart. */
  readonly name: string
  readonly isAsked: (spec: ReleasePolicySpec) => boolean
}

/** Reason of the condition `Usable` without a right. Each reason of blocked nodes for a lack of one is among them. */
type RightReason = 'PinNotAllowed' | 'GroupNotAllowed' | Extract<BlockedReason, `${string}NotAllowed`>

const rights: Readonly<Record<RightReason, Right>> = {
  PinNotAllowed: { name: 'config: Pin (rbac.configPin)', isAsked: ({ config }) => config === 'Pin' },
  GroupNotAllowed: { name: 'downtime.group (rbac.groups)', isAsked: ({ downtime }) => downtime?.group !== undefined },
  RoomNotAllowed: { name: 'nodes.room (rbac.room)', isAsked: ({ nodes }) => nodes?.room === 'Check' },
  PrePullNotAllowed: { name: 'prePull (rbac.prePull)', isAsked: ({ prePull }) => prePull !== undefined },
  DrainNotAllowed: { name: 'drain (rbac.drain)', isAsked: ({ drain }) => drain !== undefined },
  NodeLockNotAllowed: { name: 'downtime.nodeLock (rbac.nodeLocks)', isAsked: ({ downtime }) => downtime?.nodeLock === 'Take' },
  DowntimeNotAllowed: { name: 'downtime.perDay (rbac.downtime)', isAsked: ({ downtime }) => downtime?.perDay !== undefined },
}

/** Causes of a stop outside the objects of which a copy is made. */
const outside: readonly string[] = ['WorkloadTaken', 'CRDOutdated', 'OpenKruiseActive', 'ForeignControl']

/** Rights that checks need which fail on every node alike; null where a check may pass by itself. */
const lacks: Readonly<Record<BlockedReason, RightReason | null>> = {
  NoRoom: null,
  RoomUnread: null,
  RoomNotAllowed: 'RoomNotAllowed',
  ImagePull: null,
  PrePullNotAllowed: 'PrePullNotAllowed',
  DrainBlocked: null,
  DrainTaken: null,
  DrainNotAllowed: 'DrainNotAllowed',
  NodeLocked: null,
  NodeLockFailed: 'NodeLockNotAllowed',
  NodeLockNotAllowed: 'NodeLockNotAllowed',
  DeletionRefused: null,
  DowntimeSpent: null,
  DowntimeFailed: 'DowntimeNotAllowed',
  DowntimeNotAllowed: 'DowntimeNotAllowed',
  CheckFailed: null,
  Pulling: null,
  Draining: null,
}

/** Waits of a release for its group that only a person ends. */
const groupLacks: readonly string[] = ['GroupNotAllowed'] satisfies readonly GroupWaitReason[]

/**
 * Reads the holds that stay with the planned policy.
 *
 * @param changesTemplate whether the plan is a release of another template
 */
export function reportedHolds(snapshot: ClusterSnapshot, manifests: Manifests, changesTemplate: boolean): ReportedHolds {
  const { policy } = snapshot
  const spec = manifests.policy?.spec ?? policy?.spec ?? {}
  const refused = new Set(unusableOf(policy).filter((reason) => !isRight(reason) || rights[reason].isAsked(spec)))
  const waits = blockedIn(snapshot).filter(({ reason }) => lackOf(reason) === null)
  const added =
    manifests.policy === undefined ? [] : Object.values(rights).filter(({ isAsked }) => isAsked(spec) && !isAsked(policy?.spec ?? {}))
  const template = (manifests.daemonSet ?? snapshot.daemonSet)?.spec.template
  return {
    stop: stopOf(snapshot, spec, { refused, changesTemplate, readsConfig: pinnedObjects(template).length > 0 }),
    refused,
    waits,
    unknownRights: added.map(({ name }) => name),
  }
}

/** Reasons that hold for the present generation of the policy. */
function unusableOf(policy: ReleasePolicy | undefined): readonly string[] {
  const { observedGeneration, unusable = [] } = policy?.status ?? {}
  return observedGeneration === policy?.metadata.generation ? unusable : []
}

interface Planned {
  readonly refused: ReadonlySet<string>
  readonly changesTemplate: boolean
  /** Whether there is anything to pin. */
  readonly readsConfig: boolean
}

function stopOf(snapshot: ClusterSnapshot, spec: ReleasePolicySpec, { refused, changesTemplate, readsConfig }: Planned): string | null {
  const { rollout, policy } = snapshot
  const stalled = rollout.status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True')
  const pins = spec.config === 'Pin'
  const isReplaced = changesTemplate && snapshot.pods.some((pod) => liveConfigIn(pod) !== undefined)
  if (stalled !== undefined && (outside.includes(stalled.reason) || (pins && stalled.reason === 'ConfigUnpinned' && !isReplaced)))
    return stalled.message
  if (pins && readsConfig && (refused.has('PinNotAllowed') || refused.has('PodPolicyMissing')))
    return policy?.status?.conditions?.find(({ type }) => type === 'Usable')?.message ?? null
  const { waiting } = isInProgress(snapshot) ? (snapshot.release?.status ?? {}) : {}
  if (waiting != null && groupLacks.includes(waiting.reason) && !refused.has('GroupNotAllowed') && rights.GroupNotAllowed.isAsked(spec))
    return waiting.message
  const blocked = blockedIn(snapshot).find(({ reason }) => {
    const lack = lackOf(reason)
    // The copy of the cluster shows what is refused.
    return lack !== null && !refused.has(lack) && rights[lack].isAsked(spec)
  })
  return blocked === undefined ? null : (snapshot.release?.status?.waiting?.message ?? `${blocked.node}: ${blocked.message}`)
}

function isRight(reason: string): reason is RightReason {
  return Object.hasOwn(rights, reason)
}

/** A newer version may write other reasons. */
function lackOf(reason: string): RightReason | null {
  return blockedReasons.some((one) => one === reason) ? lacks[reason as BlockedReason] : null
}

function isInProgress({ rollout }: ClusterSnapshot): boolean {
  return rollout.status?.phase === 'Progressing'
}

function blockedIn(snapshot: ClusterSnapshot): readonly BlockedNode[] {
  return isInProgress(snapshot) ? (snapshot.release?.status?.flight?.blocked ?? []) : []
}

/** Most nodes that a text names. */
const MOST_NAMED = 3

/** @returns nodes with their reasons: `node-1 (DowntimeSpent), node-2 (DrainBlocked) and 3 more` */
export function waitsText(waits: readonly BlockedNode[]): string {
  const named = waits.slice(0, MOST_NAMED).map(({ node, reason }) => `${node} (${reason})`)
  return `${named.join(', ')}${waits.length > MOST_NAMED ? ` and ${waits.length - MOST_NAMED} more` : ''}`
}
