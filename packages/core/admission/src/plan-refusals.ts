import type { ReleasePolicySpec, Rollout } from '@tranche/api-schema'
import { type ControllerRevision, REFUSED_LABEL, REVISION_HASH_LABEL } from '@tranche/kube-types'

/** Facts that decide which templates the API server refuses. */
export interface RefusalView {
  readonly rollout: Rollout
  /** ControllerRevisions of its DaemonSet. */
  readonly revisions: readonly ControllerRevision[]
  /** Its ReleasePolicy; null without one, or while it does not exist. */
  readonly policy: ReleasePolicySpec | null
}

/** A revision whose template becomes refused, or allowed again. */
export interface Refusal {
  readonly revision: ControllerRevision
  readonly isRefused: boolean
}

/**
 * Plans the marks for the policy `reapply`: exactly the blocked revisions are refused if the ReleasePolicy has `failure.onReapply: Deny`
 * (G12). A `retry` or the deletion of the Rollout ends the hold and the refusal.
 *
 * @returns the marks to change; empty when all are right
 */
export function planRefusals({ rollout, revisions, policy }: RefusalView): readonly Refusal[] {
  const isOver = rollout.metadata.deletionTimestamp !== undefined || rollout.spec.disabled === true
  const denies = policy?.failure?.onReapply === 'Deny' && !isOver
  const held = new Set(denies ? rollout.status?.heldRevisions?.map(({ revision }) => revision) : [])
  return revisions
    .map((revision) => ({ revision, isRefused: held.has(revision.metadata.labels?.[REVISION_HASH_LABEL] ?? '') }))
    .filter(({ revision, isRefused }) => isRefused !== (revision.metadata.labels?.[REFUSED_LABEL] === 'true'))
}
