import type { RecordedDaemonSet, RecordedWrite } from '../record/recorded-write.ts'
import type { RecordedRollout } from '../world/stops.ts'
import { ownValue } from '../world/own-value.ts'
import { actionOf } from '../world/recorded-action.ts'
import type { JudgedWait } from './clock-doubt.ts'

/** Shortest time between two rollbacks of the same re-applied template, in milliseconds. */
const SOONEST_AGAIN_MS = 10_000

/** Requests to put back the template of a DaemonSet, and the rollbacks made so far. */
export interface Reverts {
  followRollout(write: RecordedWrite, before: RecordedRollout | undefined): void
  followPolicy(write: RecordedWrite): void
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

/** Dependencies of {@link createReverts}. */
export interface RevertParts {
  /** @returns milliseconds by which this wait may seem shorter than it was */
  doubtIn(wait: JudgedWait): number
  /** @returns digest of the template in a revision; undefined when no ControllerRevision shows it */
  templateOf(hash: string): string | undefined
}

/** Starts without requests. */
export function createReverts({ doubtIn, templateOf }: RevertParts): Reverts {
  /** DaemonSet → template that we rolled back → time of the latest rollback. */
  const taken = new Map<string, Map<string, number>>()
  /** ReleasePolicy → whether it ever allowed a rollback or a revert. */
  const policies = new Map<string, Allowed>()
  /** Rollout → policies that it ever named. A verdict and its hold outlast their policy. */
  const named = new Map<string, Set<string>>()

  return {
    followRollout(write, before) {
      const rollout = write.o as unknown as RecordedRollout
      const action = actionOf(rollout)
      const isAnother = action !== undefined && action.id !== actionOf(before)?.id
      if (write.type === 'DELETED' || (isAnother && (action.type === 'retry' || action.type === 'abort')))
        taken.delete(`${write.namespace}/${rollout.spec.workloadRef?.name}`)
      const policy = ownValue(rollout.metadata.annotations, 'tranche.dev/release-policy')
      const key = `${write.namespace}/${rollout.metadata.name}`
      if (policy !== undefined) named.set(key, new Set(named.get(key)).add(`${write.namespace}/${policy}`))
    },
    followPolicy({ namespace, type, o }) {
      if (type === 'DELETED') return
      const { metadata, spec } = o as unknown as RecordedPolicy
      const { action, onReapply } = spec?.failure ?? {}
      const key = `${namespace}/${metadata.name}`
      const known = policies.get(key)
      policies.set(key, {
        rollback: known?.rollback === true || action === 'Rollback',
        revert: known?.revert === true || onReapply === 'Revert',
      })
    },
    forget: (key) => void taken.delete(key),
    fault({ namespace, t }, { name, template = '' }, rollouts) {
      const rules = rollouts.map(({ metadata }) =>
        [...(named.get(`${namespace}/${metadata.name}`) ?? [])].flatMap((policy) => policies.get(policy) ?? []),
      )
      const isOf = ({ revision = '' }: Held): boolean => [template, undefined].includes(templateOf(revision))
      const isAsked = rollouts.some((rollout, at) => {
        const byPolicy = rules[at]?.some(({ rollback, revert }) => rollback || revert) === true
        return asksToEnd(rollout) || holdsOf(rollout).some((held) => (held.reason !== 'Failed' || byPolicy) && isOf(held))
      })
      if (!isAsked) return 'changed the template without a request'
      const key = `${namespace}/${name}`
      const times = taken.get(key) ?? new Map<string, number>()
      const last = times.get(template)
      taken.set(key, times.set(template, t))
      if (last === undefined) return null
      if (!rules.flat().some(({ revert }) => revert))
        return 'put the template back a second time, but no policy sets failure.onReapply: Revert'
      return t - last < SOONEST_AGAIN_MS - doubtIn({ sinceMs: last, nowMs: t })
        ? `put the template back again after ${t - last} ms, which is too soon`
        : null
    },
  }
}

interface Allowed {
  readonly rollback: boolean
  readonly revert: boolean
}

interface RecordedPolicy {
  readonly metadata: { readonly name: string }
  readonly spec?: { readonly failure?: { readonly action?: string; readonly onReapply?: string } }
}

type Held = NonNullable<NonNullable<RecordedRollout['status']>['heldRevisions']>[number]

/**
 * Blocked revisions, which an accepted abort or a verdict adds before the template is put back. A policy requests a rollback after a failed
 * verdict; a user requests every other one. The annotation has them where other definitions have removed them from the status.
 */
function holdsOf({ metadata, status }: RecordedRollout): readonly Held[] {
  return status?.heldRevisions ?? heldIn(ownValue(metadata.annotations, HELD))
}

const HELD = 'tranche.dev/held-revisions'

function heldIn(text: string | undefined): readonly Held[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(list) ? list.filter((one) => typeof one === 'object' && one !== null) : []
  } catch {
    return []
  }
}

/** Whether the Rollout is deleted or disabled, and rolls its release back before that. */
function asksToEnd({ metadata: { annotations, deletionTimestamp }, spec }: RecordedRollout): boolean {
  return ownValue(annotations, 'tranche.dev/on-delete') === 'Rollback' && (deletionTimestamp !== undefined || spec.disabled === true)
}
