import { type RolloutAction, type WishType, wishTypes } from '@tranche/api-schema'
import { refusalsFor } from '@tranche/planner'
import type { ReleaseFacts } from './release-facts.ts'

/** What can be wished for now so that it would be accepted, in the order of {@link wishTypes}. A forecast: what counts is the answer. */
export function allowedActions(facts: ReleaseFacts): readonly WishType[] {
  const { rollout, daemonSet, revisions } = facts
  const expectedStep = rollout.status?.canaryStatus?.currentStepIndex ?? 1
  const refusals = refusalsFor(facts)
  const accepts = (action: Omit<RolloutAction, 'id'>): boolean => refusals({ id: '', ...action }) === null
  const isGoing = rollout.metadata.deletionTimestamp !== undefined
  const paused = rollout.spec.strategy.paused === true
  const isRetried = accepts({ type: 'retry' })
  const allowed: Readonly<Record<WishType, boolean>> = {
    pause: !paused && !isGoing,
    // What a verdict holds is gone on with by a retry, which a resume is then.
    resume: (paused && !isGoing) || isRetried,
    approve: accepts({ type: 'approve', expectedStep }),
    promote: accepts({ type: 'promote' }) || accepts({ type: 'promote', full: true }),
    abort: accepts({ type: 'abort' }),
    retry: isRetried,
    undo: daemonSet !== undefined && revisions.length > 1,
    jump: accepts({ type: 'jump', expectedStep, step: 1 }),
    restart: daemonSet !== undefined,
  }
  return wishTypes.filter((type) => allowed[type])
}
