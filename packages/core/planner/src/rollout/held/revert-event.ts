import type { HeldRevision, Rollout } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import { isRevertAgain } from './reapply.ts'
import { revisionText } from './revision-text.ts'
import type { PlannedEvent } from '../view/rollout-plan.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/** Event about a restored stable template: who asked for it, and why. */
export function revertEvent({ rollout, revisions }: Pick<RolloutView, 'rollout' | 'revisions'>, held: HeldRevision): PlannedEvent {
  const stable = revisionText(revisions, rollout.status?.canaryStatus?.stableRevision ?? '')
  const message = `${whyText(rollout, held, revisionText(revisions, held.revision ?? ''))}: the template of revision ${stable} was put back`
  return { type: held.reason === 'Failed' || isRevertAgain(held) ? 'Warning' : 'Normal', reason: 'TemplateReverted', message }
}

function whyText(rollout: Rollout, held: HeldRevision, revision: string): string {
  const { reverts = 0, reason, at } = held
  if (isRevertAgain(held)) {
    const past = reason === 'Failed' ? `failed at ${at}` : `was rolled back at ${at}`
    return `revision ${revision} ${past} and its template was applied again (${reverts + 1} times); by failure.onReapply Revert${policyText(rollout)}`
  }
  if (reason !== 'Failed') return `revision ${revision} was rolled back`
  const { failure } = rollout.status ?? {}
  return `revision ${revision} failed${failure === undefined ? '' : `: ${failure.message}`}; by failure.action Rollback${policyText(rollout)}`
}

function policyText({ metadata }: Rollout): string {
  const policy = metadata.annotations?.[rolloutAnnotations.releasePolicy]
  return policy === undefined ? '' : ` of ReleasePolicy ${policy}`
}
