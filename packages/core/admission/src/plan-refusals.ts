import type { ReleasePolicySpec, Rollout } from '@tranche/api-schema'
import { type ControllerRevision, REFUSED_LABEL, REVISION_HASH_LABEL } from '@tranche/kube-types'

/** What is read to say which templates the API server refuses. */
export interface RefusalView {
  readonly rollout: Rollout
  /** ControllerRevisions that its DaemonSet controls. */
  readonly revisions: readonly ControllerRevision[]
  /** The ReleasePolicy that it names; null without one, or while it is missing. */
  readonly policy: ReleasePolicySpec | null
}

/** One revision whose template is refused from now on, or no more. */
export interface Refusal {
  readonly revision: ControllerRevision
  readonly isRefused: boolean
}

/**
 * Says which revisions are to be marked for the policy `reapply`: those that are held are refused where the ReleasePolicy says
 * `failure.onReapply: Deny` (G12), and no other. A `retry` ends the hold, and with it the refusal; so does the end of the Rollout.
 *
 * @returns what has to change; empty where every mark is right
 */
export function planRefusals({ rollout, revisions, policy }: RefusalView): readonly Refusal[] {
  const isOver = rollout.metadata.deletionTimestamp !== undefined || rollout.spec.disabled === true
  const denies = policy?.failure?.onReapply === 'Deny' && !isOver
  const held = new Set(denies ? rollout.status?.heldRevisions?.map(({ revision }) => revision) : [])
  return revisions
    .map((revision) => ({ revision, isRefused: held.has(revision.metadata.labels?.[REVISION_HASH_LABEL] ?? '') }))
    .filter(({ revision, isRefused }) => isRefused !== (revision.metadata.labels?.[REFUSED_LABEL] === 'true'))
}
