import type { RecordedDaemonSet, RecordedWrite } from '../record/recorded-write.ts'
import type { RecordedRelease, RecordedRollout } from '../world/stops.ts'
import { actionOf } from '../world/recorded-action.ts'

/** Shortest time between two rollbacks of the same re-applied template, in milliseconds. */
const SOONEST_AGAIN_MS = 10_000

/** Requests to put back the template of a DaemonSet, and the rollbacks made so far. */
export interface Reverts {
  followRollout(write: RecordedWrite, before: RecordedRollout | undefined): void
  followRelease(write: RecordedWrite): void
  /** The DaemonSet of this key is gone; its rollbacks are forgotten. */
  forget(key: string): void
  /**
   * Records that we replaced the template of `before` with an earlier one.
   *
   * @param rollouts that reference the DaemonSet
   * @returns what is wrong with that; null when it was requested
   */
  fault(write: RecordedWrite, before: RecordedDaemonSet, rollouts: readonly RecordedRollout[]): string | null
}

/**
 * Starts without requests.
 *
 * @param doubtAt milliseconds by which a wait that ends at this moment may seem shorter than it was
 */
export function createReverts(doubtAt: (nowMs: number) => number): Reverts {
  /** DaemonSet → template that we rolled back → time of the latest rollback. */
  const taken = new Map<string, Map<string, number>>()
  /** BatchRelease → whether its policy ever allowed a rollback or a revert. */
  const policies = new Map<string, { readonly rollback: boolean; readonly revert: boolean }>()

  return {
    followRollout(write, before) {
      const rollout = write.o as unknown as RecordedRollout
      const action = actionOf(rollout)
      const isAnother = action !== undefined && action.id !== actionOf(before)?.id
      if (write.type === 'DELETED' || (isAnother && (action.type === 'retry' || action.type === 'abort')))
        taken.delete(`${write.namespace}/${rollout.spec.workloadRef?.name}`)
    },
    followRelease({ namespace, type, o }) {
      if (type === 'DELETED') return
      const { metadata, spec } = o as unknown as RecordedRelease
      const { action, onReapply } = spec?.tranche?.failure ?? {}
      const key = `${namespace}/${metadata?.name}`
      const known = policies.get(key)
      policies.set(key, {
        rollback: known?.rollback === true || action === 'Rollback',
        revert: known?.revert === true || onReapply === 'Revert',
      })
    },
    forget: (key) => void taken.delete(key),
    fault({ namespace, t }, { name, template = '' }, rollouts) {
      const rules = rollouts.map(({ metadata }) => policies.get(`${namespace}/${metadata.name}`))
      if (!rollouts.some((rollout, at) => asks(rollout, rules[at]?.rollback === true || rules[at]?.revert === true)))
        return 'changed the template without a request'
      const key = `${namespace}/${name}`
      const times = taken.get(key) ?? new Map<string, number>()
      const last = times.get(template)
      taken.set(key, times.set(template, t))
      if (last === undefined) return null
      if (!rules.some((rule) => rule?.revert === true))
        return 'put the template back a second time, but no policy sets failure.onReapply: Revert'
      return t - last < SOONEST_AGAIN_MS - doubtAt(t) ? `put the template back again after ${t - last} ms, which is too soon` : null
    },
  }
}

/** A policy requests a rollback after a failed verdict; a user requests every other one. */
function asks({ metadata, spec, status }: RecordedRollout, byPolicy: boolean): boolean {
  const { annotations = {}, deletionTimestamp } = metadata
  const action = actionOf({ metadata, spec })
  if (action?.type === 'abort') return true
  if ((status?.heldRevisions ?? []).some(({ reason }) => reason !== 'Failed' || byPolicy)) return true
  return annotations['tranche.dev/on-delete'] === 'Rollback' && (deletionTimestamp !== undefined || spec.disabled === true)
}
