import { NOT_DELETED, type Permit, type Waiting } from '@tranche/api-schema'
import { tallyNodes } from '@tranche/fence'
import { nodeInView } from '@tranche/fleet'
import { firstNodes } from './progress/unwell-text.ts'
import type { ReleaseView } from './view/release-view.ts'

/** For how long (ms) executors may leave a permit unused, while the budget allows it, before a person has to look. A rollout of executors is shorter. */
const UNUSED_MS = 120_000

/** What a person can look for. */
const ADVICE =
  'check with tranche doctor that executors run; their log says if a webhook, a policy or a missing permission rejects the deletion'

/** @returns uid of the first pod that executors may delete now; undefined without one, and while the budget, a rule or a check may keep it */
export function deletablePod({
  release,
  daemonSet,
  fleet,
  queueOutage,
  monotonicMs,
}: Pick<ReleaseView, 'release' | 'daemonSet' | 'fleet' | 'queueOutage' | 'monotonicMs'>): string | undefined {
  const record = release.status?.flight
  if (record?.state !== 'open' || record.permits.length === 0 || (record.blocked ?? []).length > 0) return undefined
  if (typeof queueOutage === 'string' || (release.spec.tranche?.nodes?.spread ?? []).length > 0) return undefined
  const first = record.permits.find((permit) => isStanding(fleet, permit))
  if (first === undefined) return undefined
  const minReadyMs = (daemonSet?.spec.minReadySeconds ?? 0) * 1000
  const { unavailable } = tallyNodes(fleet, { revision: record.revision, minReadyMs, monotonicMs })
  return unavailable.length < record.limit ? first.podUid : undefined
}

/** @param lack which nodes the batch lacks @returns null while executors use their permits */
export function undeletedWait(view: ReleaseView, lack: string): Omit<Waiting, 'since'> | null {
  const { release, fleet } = view
  if (untilUndeletedMs(view) !== 0) return null
  const nodes = (release.status?.flight?.permits ?? []).filter((permit) => isStanding(fleet, permit)).map(({ node }) => node)
  const message = `${lack}, but for ${UNUSED_MS / 60_000} minutes executors have not deleted pods that they may delete, on ${firstNodes(nodes)}; ${ADVICE}`
  return { reason: NOT_DELETED, message, nodes }
}

/** @returns milliseconds until {@link undeletedWait} changes by time alone; 0: it has; null: it does not */
export function untilUndeletedMs({ daemonSet, undeletedSinceMs, monotonicMs }: ReleaseView): number | null {
  if (undeletedSinceMs === undefined) return null
  // An executor that has just started takes no pod for available before that time.
  const minReadyMs = (daemonSet?.spec.minReadySeconds ?? 0) * 1000
  return Math.max(0, undeletedSinceMs + UNUSED_MS + minReadyMs - monotonicMs)
}

function isStanding(fleet: ReleaseView['fleet'], { node, podUid }: Permit): boolean {
  return nodeInView(fleet, node)?.pods.some(({ uid, terminating }) => uid === podUid && !terminating) ?? false
}
