import type { BatchReleaseStatus, RolloutStatus } from '@tranche/api-schema'
import type { RecordedWrite } from '@tranche/recording'
import { unlistedOfRelease, unlistedOfRollout } from '../fakes/unlisted-transitions.ts'
import type { Violation } from './judge.ts'

/**
 * Changes of a status by our programs that no state machine lists, once each: the diagrams of docs/reference/release-phases.md are drawn
 * from those lists, so a reader may rely on them.
 *
 * People may write any state (`kubectl kruise rollout approve`), so only our own writes are judged, each against what the API server held
 * before it.
 *
 * @param writes in the order of acceptance
 */
export function findUnlisted(writes: readonly RecordedWrite[], isOurs: (actor: string) => boolean): readonly Violation[] {
  const before = new Map<string, RecordedWrite['o']>()
  const found = new Map<string, Violation>()
  for (const { kind, type, uid = '', actor = '', t, o } of writes) {
    if (kind !== 'Rollout' && kind !== 'BatchRelease') continue
    const was = before.get(uid)
    if (type === 'DELETED') before.delete(uid)
    else before.set(uid, o)
    if (type !== 'MODIFIED' || was === undefined || !isOurs(actor)) continue
    for (const change of unlistedIn(kind, was, o)) {
      const text = `${kind} ${change}`
      if (!found.has(text)) found.set(text, { guarantee: 'states', atMs: t, text: `${actor} wrote a transition that no list has: ${text}` })
    }
  }
  return [...found.values()]
}

function unlistedIn(kind: 'Rollout' | 'BatchRelease', was: RecordedWrite['o'], next: RecordedWrite['o']): readonly string[] {
  if (kind === 'Rollout') return unlistedOfRollout(was.status as RolloutStatus | undefined, (next.status ?? {}) as RolloutStatus)
  return unlistedOfRelease(was.status as BatchReleaseStatus | undefined, (next.status ?? {}) as BatchReleaseStatus)
}
