import type { HeldRevision } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import { type DaemonSet, daemonSetAnnotations } from '@tranche/kube-types'
import { daemonSetPatch, takeOverStrategy } from '../../release/view/daemon-set-patch.ts'
import { hashOf } from '../../release/view/discover-revisions.ts'
import { plainTemplate } from '../../release/view/stable-template.ts'
import { heldTemplate, isReverted, revertMark, templateDigest } from './held-revisions.ts'
import { waitsForResume } from './on-delete.ts'
import { isRevertAgain, reapplyAction, untilRevertMs } from './reapply.ts'
import { revertEvent } from './revert-event.ts'
import type { RolloutPlan } from '../view/rollout-plan.ts'
import type { RolloutView } from '../view/rollout-view.ts'

/**
 * Restores the template of the stable revision where the present one was rolled back: once per request, whatever is applied
 * afterwards (G11, G12). A policy's request waits during a pause. Null where there is nothing to restore.
 */
export function planRevert(view: RolloutView): RolloutPlan | null {
  const { daemonSet, rollout } = view
  const { canaryStatus, heldRevisions = [] } = rollout.status ?? {}
  if (daemonSet === undefined || daemonSet.metadata.annotations?.[daemonSetAnnotations.rollout] !== rollout.metadata.name) return null
  const held = heldTemplate(heldRevisions, daemonSet)
  if (held === undefined || isReverted(daemonSet, held) || canaryStatus?.canaryRevision !== held.revision) return null
  if (!isRevertDue(view, held)) return null
  const stable = canaryStatus?.stableRevision
  const template = templateToPutBack(view, stable)
  if (template === null) return null
  const patch = revertPatch(view, daemonSet, { template, mark: revertMark(held) })
  return { kind: 'patchDaemonSet', why: 'revert', daemonSet, patch, event: revertEvent(view, held) }
}

/** Whether the stable template is restored for this hold now: not during a back-off; a policy's request not during a pause. */
export function isRevertDue(view: RolloutView, held: HeldRevision): boolean {
  if (isRevertAgain(held) && (reapplyAction(view) !== 'Revert' || untilRevertMs(held, view.nowMs) > 0)) return false
  return !((held.reason === 'Failed' || isRevertAgain(held)) && waitsForResume(view.rollout))
}

/**
 * Template of a revision from its ControllerRevision or from the BatchRelease's copy, whichever is the one that became stable
 * (F15); null where neither is. Previous versions recorded no digest: then the first of them counts.
 */
export function templateToPutBack(view: RolloutView, hash: string | undefined): object | null {
  return templatesOf(view, hash).find((template) => !isForged(view, template)) ?? null
}

/** Says why there is no template to restore, and the fix; null where there is one. */
export function whyNoTemplate(view: RolloutView, hash: string): string | null {
  const templates = templatesOf(view, hash)
  if (templates.length === 0) return `revision ${hash}, which ran before, is no longer in the history (revisionHistoryLimit)`
  if (templates.some((template) => !isForged(view, template))) return null
  return `revision ${hash} does not hold the template that last became stable (status.stableDigest)`
}

function templatesOf({ revisions, release }: RolloutView, hash: string | undefined): readonly object[] {
  const inHistory = revisions.filter((one) => hashOf(one) === hash).map(plainTemplate)
  const kept = release?.status?.stableTemplate
  return [...inHistory, kept !== undefined && kept.revision === hash ? kept.template : null].filter((template) => template !== null)
}

/** F15: a revision that was deleted and recreated, under the same or another name, may hold any template. */
function isForged({ rollout: { status } }: RolloutView, template: object): boolean {
  return status?.stableDigest !== undefined && status.stableDigest !== templateDigest(template)
}

/**
 * Tests the uid, the generation and all annotations, so that it never undoes a concurrent change and never comes after
 * detaching. Nor does it come after a retry has released the version again: its release publishes annotations, or removes the
 * one that it is paused, before it deletes a pod. A status that changes with every pod does not delay it. The native controller
 * must not act on the template, so the strategy is taken over in the same patch where needed.
 */
function revertPatch(
  { rollout }: RolloutView,
  daemonSet: DaemonSet,
  { template, mark }: { readonly template: object; readonly mark: string },
): readonly PatchOperation[] {
  const { annotations, ...takeOver } = takeOverStrategy(daemonSet)
  const inProgressing = JSON.stringify({ rolloutName: rollout.metadata.name })
  const ours = { [daemonSetAnnotations.reverted]: mark, [daemonSetAnnotations.inProgressing]: inProgressing }
  const changes = daemonSetPatch(daemonSet, { ...takeOver, annotations: { ...annotations, ...ours } }) ?? []
  const { generation, annotations: present } = daemonSet.metadata
  return [
    { op: 'test', path: '/metadata/generation', value: generation },
    { op: 'test', path: '/metadata/annotations', value: present },
    ...changes.filter(({ path }) => path !== '/metadata/resourceVersion'),
    { op: 'replace', path: '/spec/template', value: template },
  ]
}
