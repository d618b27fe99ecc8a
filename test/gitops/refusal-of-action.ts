import type { Rollout, ActionBody, ActionType } from '@tranche/api-schema'
import { planAction, type ActionRejection } from '@tranche/actions'

/** For each action of Argo CD, the reason for which Tranche would refuse it; null if it would not. */
export const refusalOfAction: Readonly<Record<string, (rollout: Rollout) => ActionRejection | null>> = {
  pause: (rollout) => (rollout.spec.strategy.paused === true ? nothingToDo : refusalOf(rollout, 'pause')),
  resume: (rollout) => refusalOf(rollout, 'resume'),
  approve: (rollout) => refusalOf(rollout, 'approve', { expectedStep: rollout.status?.canaryStatus?.currentStepIndex ?? 1 }),
  promote: (rollout) => refusalOf(rollout, 'promote', ofRevision(rollout)),
  'promote-full': (rollout) => refusalOf(rollout, 'promote', { ...ofRevision(rollout), full: true }),
  abort: (rollout) => refusalOf(rollout, 'abort', ofRevision(rollout)),
  retry: (rollout) =>
    rollout.status?.phase === 'Progressing' || failedAfterEnd(rollout) ? refusalOf(rollout, 'retry', ofRevision(rollout)) : nothingToDo,
}

function failedAfterEnd({ status }: Rollout): boolean {
  const stalled = status?.conditions?.find(({ type }) => type === 'Stalled')
  return status?.phase === 'Healthy' && stalled?.status === 'True' && stalled.reason === 'ReleaseFailed'
}

const nothingToDo: ActionRejection = { kind: 'refused', code: 'ACTION_REJECTED', message: 'there is nothing to do', fix: 'do nothing' }

function ofRevision({ status }: Rollout): ActionBody {
  const revision = status?.canaryStatus?.canaryRevision
  return revision === undefined ? {} : { revision }
}

function refusalOf(rollout: Rollout, type: ActionType, body: ActionBody = {}): ActionRejection | null {
  const plan = planAction(
    { id: 'argocd-1', type, body, by: 'argocd', via: 'cli' },
    { rollout, daemonSet: undefined, revisions: [], nowMs: 1_700_000_000_000 },
  )
  return plan.kind === 'refused' ? plan : null
}
