import type { Rollout, WishBody, WishType } from '@tranche/api-schema'
import { planWish, type WishRefusal } from '@tranche/wishes'

/** For each action of Argo CD, why the wish that it writes would be refused; null where it would not. */
export const refusalOfAction: Readonly<Record<string, (rollout: Rollout) => WishRefusal | null>> = {
  pause: (rollout) => (rollout.spec.strategy.paused === true ? nothingToDo : refusalOf(rollout, 'pause')),
  resume: (rollout) => refusalOf(rollout, 'resume'),
  approve: (rollout) => refusalOf(rollout, 'approve', { expectedStep: rollout.status?.canaryStatus?.currentStepIndex ?? 1 }),
  promote: (rollout) => refusalOf(rollout, 'promote', ofRevision(rollout)),
  'promote-full': (rollout) => refusalOf(rollout, 'promote', { ...ofRevision(rollout), full: true }),
  abort: (rollout) => refusalOf(rollout, 'abort', ofRevision(rollout)),
  retry: (rollout) => (rollout.status?.phase === 'Progressing' ? refusalOf(rollout, 'retry', ofRevision(rollout)) : nothingToDo),
}

const nothingToDo: WishRefusal = { kind: 'refused', code: 'WISH_REFUSED', message: 'there is nothing to do', fix: 'do nothing' }

function ofRevision({ status }: Rollout): WishBody {
  const revision = status?.canaryStatus?.canaryRevision
  return revision === undefined ? {} : { revision }
}

function refusalOf(rollout: Rollout, type: WishType, body: WishBody = {}): WishRefusal | null {
  const plan = planWish(
    { id: 'wished', type, body, by: 'argocd', via: 'cli' },
    { rollout, daemonSet: undefined, revisions: [], nowMs: 1_700_000_000_000 },
  )
  return plan.kind === 'refused' ? plan : null
}
