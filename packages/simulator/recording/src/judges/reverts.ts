import type { RecordedDaemonSet, RecordedWrite } from '../recorded-write.ts'
import type { RecordedRelease, RecordedRollout } from '../world/stops.ts'
import { actionOf } from './recorded-action.ts'

/** How soon a template that is applied again may be taken back again, in milliseconds. */
const SOONEST_AGAIN_MS = 10_000

/** Who has asked for the template of a DaemonSet to be put back, and how often that was done. */
export interface Reverts {
  followRollout(write: RecordedWrite, before: RecordedRollout | undefined): void
  followRelease(write: RecordedWrite): void
  /** The DaemonSet of this key is gone, and what was done to it is forgotten. */
  forget(key: string): void
  /**
   * We have put a template back in the place of `before`'s.
   *
   * @param rollouts those that speak of the DaemonSet
   * @returns what is wrong with that; null where it was asked for
   */
  fault(write: RecordedWrite, before: RecordedDaemonSet, rollouts: readonly RecordedRollout[]): string | null
}

/**
 * Begins with nobody having asked.
 *
 * @param doubtAt by how much a wait that ends at this moment may seem shorter than it was, in milliseconds
 */
export function createReverts(doubtAt: (nowMs: number) => number): Reverts {
  /** DaemonSet → template that was taken away → when we last did. */
  const taken = new Map<string, Map<string, number>>()
  /** BatchRelease → what its policy has ever said. */
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
        return 'changed the template, and nobody had asked for it'
      const key = `${namespace}/${name}`
      const times = taken.get(key) ?? new Map<string, number>()
      const last = times.get(template)
      taken.set(key, times.set(template, t))
      if (last === undefined) return null
      if (!rules.some((rule) => rule?.revert === true)) return 'put the template back once more, and no policy had said Revert'
      return t - last < SOONEST_AGAIN_MS - doubtAt(t) ? `put the template back again after ${t - last} ms` : null
    },
  }
}

/** What a verdict has taken back was asked for by a policy that says so; everything else by a person. */
function asks({ metadata, spec, status }: RecordedRollout, byPolicy: boolean): boolean {
  const { annotations = {}, deletionTimestamp } = metadata
  const action = actionOf({ metadata, spec })
  if (action?.type === 'abort') return true
  if ((status?.heldRevisions ?? []).some(({ reason }) => reason !== 'Failed' || byPolicy)) return true
  return annotations['tranche.dev/on-delete'] === 'Rollback' && (deletionTimestamp !== undefined || spec.disabled === true)
}
