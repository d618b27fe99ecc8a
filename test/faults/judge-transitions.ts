import type { BatchReleaseStatus, RolloutStatus } from '@tranche/api-schema'
import type { RecordedWrite } from '@tranche/recording'
import { unlistedOfRelease, unlistedOfRollout } from '../fakes/unlisted-transitions.ts'
import type { Violation } from './judge.ts'

/**
 * Status writes of our programs that change a state as no state machine of docs/release-phases.md lists.
 *
 * @param isOurs whether the actor is one of our programs
 */
export function findUnlisted(writes: readonly RecordedWrite[], isOurs: (actor: string) => boolean): readonly Violation[] {
  const statuses = new Map<string, object | undefined>()
  return writes.flatMap(({ kind, type, t, actor = '', o }): readonly Violation[] => {
    if (kind !== 'Rollout' && kind !== 'BatchRelease') return []
    const { metadata, status } = o as { readonly metadata: { readonly uid?: string }; readonly status?: object }
    const uid = metadata.uid ?? ''
    const before = statuses.get(uid)
    statuses.set(uid, status)
    if (type === 'DELETED' || status === undefined || !isOurs(actor)) return []
    const unlisted =
      kind === 'Rollout'
        ? unlistedOfRollout(before as RolloutStatus | undefined, status as RolloutStatus)
        : unlistedOfRelease(before as BatchReleaseStatus | undefined, status as BatchReleaseStatus)
    return unlisted.map((text) => ({
      guarantee: 'states',
      atMs: t,
      text: `${actor} changed the ${kind} as no state machine lists: ${text}`,
    }))
  })
}
