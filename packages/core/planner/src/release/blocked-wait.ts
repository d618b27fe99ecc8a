import { valueIn } from '@tranche/kube-types'
import { type BlockedNode, type BlockedReason, isGroupWait, underWayReasons, type Waiting } from '@tranche/api-schema'
import type { BatchProgress } from './progress/batch-progress.ts'
import { firstNodes } from './progress/unwell-text.ts'
import type { ReleaseView } from './view/release-view.ts'

/** Minimum interval (ms) between writes that change only the text of a hold and counts: users who change a policy look for its effect. */
export const HOLDS_EVERY_MS = 1_000

interface Words {
  /** Cause for which the old pods stay. */
  readonly why: string
  /** Cause for which broken pods stay, which use the budget. */
  readonly whyBroken: string
  /** Absent where nothing has failed. */
  readonly fix?: string
}

/** By reason of a blocked node. */
const wordsOf: Readonly<Record<string, Words>> = {
  NoRoom: {
    why: 'nodes.room of the policy keeps the old pods where the new ones would not fit',
    whyBroken: 'nodes.room of the policy keeps broken pods where the new ones would not fit',
    fix: 'free room there, request less, or set nodes.room to Ignore',
  },
  RoomUnread: {
    why: 'nodes.room of the policy keeps the old pods where the room cannot be read',
    whyBroken: 'nodes.room of the policy keeps broken pods where the room cannot be read',
    fix: 'executors read it again by themselves; if this lasts, check that the API server responds, or set nodes.room to Ignore',
  },
  RoomNotAllowed: {
    why: 'nodes.room of the policy keeps the old pods because the installation does not allow it',
    whyBroken: 'nodes.room of the policy keeps broken pods because the installation does not allow it',
    fix: 'allow it with rbac.room: true in the chart, or set nodes.room to Ignore',
  },
  ImagePull: {
    why: 'prePull of the policy keeps the old pods where the new images cannot be pulled',
    whyBroken: 'prePull of the policy keeps broken pods where the new images cannot be pulled',
    fix: 'make the images available to these nodes, apply another template, or set prePull.onFailure to Continue',
  },
  PrePullNotAllowed: {
    why: 'prePull of the policy keeps the old pods because the installation does not allow it',
    whyBroken: 'prePull of the policy keeps broken pods because the installation does not allow it',
    fix: 'allow it with rbac.prePull: true in the chart, or remove prePull from the policy',
  },
  DrainBlocked: {
    why: 'drain of the policy keeps the old pods where other pods still use them',
    whyBroken: 'drain of the policy keeps broken pods where other pods still use them',
    fix: 'let these pods leave, or set drain.onTimeout to Continue; executors drain the nodes again by themselves',
  },
  DrainTaken: {
    why: 'drain of the policy keeps the old pods where another release drains the node',
    whyBroken: 'drain of the policy keeps broken pods where another release drains the node',
    fix: 'executors drain the nodes again by themselves, and can once the other release is done with them or is paused',
  },
  NodeLocked: {
    why: 'downtime.nodeLock of the policy keeps the old pods where another holder has the Lease of the node',
    whyBroken: 'downtime.nodeLock of the policy keeps broken pods where another holder has the Lease of the node',
    fix: 'executors take the Lease once it is given back or expires',
  },
  NodeLockFailed: {
    why: 'downtime.nodeLock of the policy keeps the old pods because the Leases of nodes cannot be used',
    whyBroken: 'downtime.nodeLock of the policy keeps broken pods because the Leases of nodes cannot be used',
    fix: 'create the namespace of the Leases, grant executors the permissions of rbac.nodeLocks there, or set downtime.nodeLock to Ignore',
  },
  NodeLockNotAllowed: {
    why: 'downtime.nodeLock of the policy keeps the old pods because the installation does not allow it',
    whyBroken: 'downtime.nodeLock of the policy keeps broken pods because the installation does not allow it',
    fix: 'list the namespace in rbac.nodeLocks.namespaces of the chart, or set downtime.nodeLock to Ignore',
  },
  DowntimeSpent: {
    why: 'downtime.perDay of the policy keeps the old pods where the agent was away for long enough in the last 24 hours',
    whyBroken: 'downtime.perDay of the policy keeps pods where the agent was away for long enough in the last 24 hours',
    fix: 'executors update these nodes by themselves once the time is below the limit again, or at once without downtime.perDay or with a larger one',
  },
  DowntimeFailed: {
    why: 'downtime.perDay of the policy keeps the old pods because the downtime of nodes cannot be remembered',
    whyBroken: 'downtime.perDay of the policy keeps broken pods because the downtime of nodes cannot be remembered',
    fix: 'grant executors the permissions of rbac.downtime in the namespace of the installation, or remove downtime.perDay from the policy',
  },
  DowntimeNotAllowed: {
    why: 'downtime.perDay of the policy keeps the old pods because the installation does not allow it',
    whyBroken: 'downtime.perDay of the policy keeps broken pods because the installation does not allow it',
    fix: 'allow it with rbac.downtime: true in the chart, or remove downtime.perDay from the policy',
  },
  Pulling: {
    why: 'executors first pull the new images (prePull of the policy)',
    whyBroken: 'prePull of the policy keeps broken pods while the new images are pulled',
  },
  Draining: {
    why: 'executors first drain the nodes (drain of the policy)',
    whyBroken: 'drain of the policy keeps broken pods while other pods still use them',
  },
  DeletionRefused: {
    why: 'the old pods stay because the API server refuses to delete them',
    whyBroken: 'broken pods stay because the API server refuses to delete them',
    fix: 'look for a webhook or policy that denies it, and for errors in the log of executors',
  },
  DrainNotAllowed: {
    why: 'drain of the policy keeps the old pods because the installation does not allow it',
    whyBroken: 'drain of the policy keeps broken pods because the installation does not allow it',
    fix: 'list the namespace in rbac.drain.namespaces of the chart, or remove drain from the policy',
  },
  CheckFailed: {
    why: 'the old pods stay where a check that the policy asks for had no clear response',
    whyBroken: 'broken pods stay where a check that the policy asks for had no clear response',
    fix: 'executors check the nodes again by themselves; look for errors in their log',
  },
} satisfies Readonly<Record<BlockedReason, Words>>

/** For reasons of a newer version. */
const otherWords: Words = {
  why: 'checks that the policy asks for keep the old pods',
  whyBroken: 'checks that the policy asks for keep broken pods',
  fix: 'executors check the nodes again by themselves',
}

/**
 * Text of a wait that policies, configurations and executors' checks change, rather than pods as they come and go; null for any other wait. It
 * is written soon after it changes.
 */
export function holdText(wait: Pick<Waiting, 'reason' | 'message'> | null | undefined): string | null {
  const isHold = wait !== null && wait !== undefined && (Object.hasOwn(wordsOf, wait.reason) || isGroupWait(wait.reason))
  return isHold ? `${wait.reason}: ${wait.message}` : null
}

/** Whether executors prepare the node, and nothing has failed there. */
export function isBeingPrepared({ reason }: Pick<BlockedNode, 'reason'>): boolean {
  return underWayReasons.some((one) => one === reason)
}

/** The nodes that keep their old pod because of a check, where executors found some; null without any. */
export function blockedWait({ release }: ReleaseView, lack: string): Omit<Waiting, 'since'> | null {
  const { blocked = [] } = release.status?.flight ?? {}
  // Failures come before work that is under way.
  const first = blocked.find((node) => !isBeingPrepared(node)) ?? blocked[0]
  if (first === undefined) return null
  const texts = byReason(blocked).map(([{ why, fix }, nodes]) => `${why}: ${nodesText(nodes)}${fix === undefined ? '' : `; ${fix}`}`)
  return { reason: first.reason, message: `${lack}, and ${texts.join('; ')}`, nodes: blocked.map(({ node }) => node) }
}

/** Nodes whose old pod is broken and stays because of a check: they use the budget until they are ready. */
export function downAndBlocked({ release }: ReleaseView, { unavailable }: BatchProgress): string {
  const down = (release.status?.flight?.blocked ?? []).filter(({ node }) => unavailable.includes(node))
  return byReason(down)
    .map(([{ whyBroken }, nodes]) => `; ${whyBroken}: ${nodesText(nodes)}`)
    .join('')
}

function byReason(blocked: readonly BlockedNode[]): readonly (readonly [Words, readonly BlockedNode[]])[] {
  const groups = Map.groupBy(blocked, ({ reason }) => valueIn(wordsOf, reason) ?? otherWords)
  return [...groups]
}

/** Names the nodes, and why each of them is blocked; once if all say the same. */
function nodesText(nodes: readonly BlockedNode[]): string {
  if (nodes.length > 1 && new Set(nodes.map(({ message }) => message)).size === 1)
    return `${firstNodes(nodes.map(({ node }) => node))} (${nodes[0]?.message ?? ''})`
  const first = nodes.slice(0, 3).map(({ node, message }) => `${node} (${message})`)
  return `${first.join(', ')}${nodes.length > 3 ? ` and ${nodes.length - 3} more` : ''}`
}
