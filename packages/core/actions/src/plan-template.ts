import type { Rollout } from '@tranche/api-schema'
import type { PatchOperation } from '@tranche/fence'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import {
  commandText,
  hashOf,
  heldTemplate,
  imagesText,
  partsOfReleaseId,
  plainTemplate,
  templateDigest,
  templateOf,
  templateText,
  wasPinned,
} from '@tranche/planner'
import { refused, type UndoLook, type Action, type ActionFacts, type ActionRejection } from './action.ts'

/** A change to the template of a DaemonSet. */
export interface TemplateChange {
  readonly kind: 'change'
  readonly patch: readonly PatchOperation[]
  /** The change as text for users. */
  readonly message: string
  /** Only for an undo: the replaced template and the restored revision. */
  readonly look?: UndoLook
}

/** Facts that an undo is checked against. */
export type UndoFacts = Pick<ActionFacts, 'rollout' | 'revisions'>

/** Annotation of the pod template that `kubectl rollout restart` sets to create a new revision. */
const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt'

/**
 * Restores the template of an earlier revision, as `kubectl rollout undo` does: the whole template, and no other field.
 *
 * `toRevision` is a number or a controller-revision-hash. Without it, or with `0` as in kubectl, the newest earlier revision that is not
 * blocked is used. An undo without a name therefore never means a version that was rolled back (G12). The undo is refused with `MOVED_ON`
 * when the present template is not that of `revision`, or not the one that an earlier attempt found (`look`).
 */
export function planUndo(daemonSet: DaemonSet, facts: UndoFacts, { body, look }: AskedUndo): TemplateChange | ActionRejection {
  const { metadata } = daemonSet
  const newestFirst = [...facts.revisions].sort((a, b) => b.revision - a.revision)
  const now = templateText(daemonSet.spec.template)
  const isNow = (revision: ControllerRevision): boolean => templateText(templateOf(revision)) === now
  const present = newestFirst.find(isNow)
  if (look !== undefined && (look.uid !== metadata.uid || look.present !== now))
    return overtaken(daemonSet, present, 'since the undo was first tried')
  const meant = newestFirst.filter((revision) => hashOf(revision) === body.revision)
  if (body.revision !== undefined && !meant.some(isNow))
    return { ...overtaken(daemonSet, present, `from revision ${body.revision}`), path: 'revision' }
  if (present === undefined) {
    const message = `the DaemonSet controller has not created a revision for the present template of DaemonSet ${metadata.name} yet`
    return refused('ACTION_REJECTED', message, 'try again in a moment')
  }
  const target = earlier({ newestFirst, present, rollout: facts.rollout }, look?.target ?? body.toRevision)
  if (target.kind === 'refused') return target
  const { revision } = target
  const template = plainTemplate(revision)
  if (template === null)
    return refused('ACTION_REJECTED', `revision ${revision.revision} has no template`, 'apply the template that you want')
  if (isForged(revision, template, facts.rollout))
    return refused(
      'ACTION_REJECTED',
      `the template of revision ${nameOf(revision)} is not the one that became stable (status.stableDigest)`,
      `apply the template that you want, and find out in the audit log who changed ControllerRevision ${revision.metadata.name}`,
    )
  const held = isHeld(revision, facts.rollout) ? ', which is blocked: no pod is deleted for it before a retry' : ''
  return {
    kind: 'change',
    patch: [{ op: 'replace', path: '/spec/template', value: template }],
    message: `the template of revision ${longNameOf(revision)} is restored${held}${replacedText(present, facts.rollout)}${disabledText(daemonSet, facts.rollout)}`,
    look: { uid: metadata.uid, present: now, target: hashOf(revision) },
  }
}

/**
 * Whether the version that an undo replaces is released again by a GitOps tool that applies it. Empty while no release of it runs, unless it
 * failed.
 */
function replacedText(present: ControllerRevision, rollout: Rollout | undefined): string {
  const { phase, canaryStatus, failure } = rollout?.status ?? {}
  const name = hashOf(present)
  // The status keeps the failure of a version that was rolled back.
  const isOfPresent = canaryStatus?.canaryRevision === name && partsOfReleaseId(failure?.release).revision === name
  const hasFailed = isOfPresent && failure?.stops === true && failure.reason !== 'AnalysisInconclusive'
  if (hasFailed || isHeld(present, rollout)) return `; ${blockedText(name)}`
  if (phase !== 'Progressing' || canaryStatus?.canaryRevision !== name) return ''
  return `; ${rollout?.status?.stableRevision === name ? notEvenBlockedText(name) : notBlockedText(name)}`
}

/** Nothing replaces pods of a DaemonSet that a disabled Rollout left on `OnDelete`. Begins with a semicolon; else empty. */
function disabledText({ spec }: DaemonSet, rollout: Rollout | undefined): string {
  if (rollout?.spec.disabled !== true || spec.updateStrategy?.type !== 'OnDelete') return ''
  return '; the Rollout is disabled and updateStrategy.type is OnDelete, so no pod is replaced before it is enabled'
}

/** @returns what the block of a replaced version does */
export function blockedText(revision: string): string {
  return `revision ${revision} is blocked, so applying its template again does not release it`
}

/** An abort is rejected while the stable revision is released. */
function notEvenBlockedText(revision: string): string {
  return `revision ${revision} is not blocked, even if it fails now: applying its template again releases it`
}

/** @returns what a rollback without a block leaves to be done */
export function notBlockedText(revision: string): string {
  return `revision ${revision} is not blocked: applying its template again releases it (an abort would block it)`
}

function overtaken({ metadata }: DaemonSet, present: ControllerRevision | undefined, since: string): ActionRejection {
  const now = present === undefined ? 'to one that has no revision yet' : `and is now that of revision ${longNameOf(present)}`
  const message = `the template of DaemonSet ${metadata.name} has changed ${since}, ${now}`
  return refused('MOVED_ON', message, 'check the present revision and decide again')
}

/** The requested undo, and the result of an earlier attempt. */
type AskedUndo = Pick<Action, 'body' | 'look'>

interface History {
  readonly newestFirst: readonly ControllerRevision[]
  readonly present: ControllerRevision
  readonly rollout: Rollout | undefined
}

interface Target {
  readonly kind: 'found'
  readonly revision: ControllerRevision
}

function earlier(history: History, toRevision: string | undefined): Target | ActionRejection {
  const { newestFirst, present } = history
  if (toRevision === undefined || toRevision === '0') return newestNotHeld(history)
  const revision = newestFirst.find((one) => hashOf(one) === toRevision) ?? newestFirst.find((one) => String(one.revision) === toRevision)
  if (revision === undefined)
    return {
      ...refused('REVISION_NOT_FOUND', `there is no revision ${toRevision} in the history`, `name one of ${namesOf(newestFirst)}`),
      path: 'toRevision',
    }
  if (templateText(templateOf(revision)) !== templateText(templateOf(present))) return { kind: 'found', revision }
  return {
    ...refused('ACTION_REJECTED', `revision ${nameOf(revision)} is the present revision`, 'name an earlier revision'),
    path: 'toRevision',
  }
}

function newestNotHeld({ newestFirst, present, rollout }: History): Target | ActionRejection {
  const isOther = (one: ControllerRevision): boolean => templateText(templateOf(one)) !== templateText(templateOf(present))
  // The controller pinned such a template before a pod ran it.
  const others = newestFirst.filter((one) => isOther(one) && !wasPinned(one, newestFirst))
  const revision = others.find((one) => !isHeld(one, rollout))
  if (revision !== undefined) return { kind: 'found', revision }
  if (others.length === 0 || rollout === undefined)
    return refused(
      'ACTION_REJECTED',
      `there is no earlier revision; the history has ${namesOf(newestFirst)}`,
      'apply the template that you want',
    )
  const message = `all earlier revisions are blocked because they failed or were rolled back: ${namesOf(others)}`
  const command = commandText(rollout, 'undo', '--to-revision NUMBER')
  const fix = `apply the template that you want, or run ${command} and then retry that revision`
  return { ...refused('ACTION_REJECTED', message, fix), path: 'toRevision' }
}

function isHeld(revision: ControllerRevision, rollout: Rollout | undefined): boolean {
  const template = templateOf(revision)
  return template !== undefined && heldTemplate(rollout?.status?.heldRevisions ?? [], { spec: { template } }) !== undefined
}

/** F15: only the stable revision has a recorded digest; the others are trusted as the DaemonSet controller wrote them. */
function isForged(revision: ControllerRevision, template: object, rollout: Rollout | undefined): boolean {
  const { stableRevision, stableDigest } = rollout?.status ?? {}
  return stableDigest !== undefined && stableRevision === hashOf(revision) && stableDigest !== templateDigest(template)
}

function namesOf(revisions: readonly ControllerRevision[]): string {
  return revisions.map(nameOf).join(', ')
}

function nameOf(revision: ControllerRevision): string {
  return `${revision.revision} (${hashOf(revision)})`
}

/** Number, hash and images of a revision. */
function longNameOf(revision: ControllerRevision): string {
  return `${revision.revision} (${[hashOf(revision), imagesText(revision)].filter(Boolean).join(', ')})`
}

/** Sets the restart time in the pod template, as `kubectl rollout restart` does. */
export function planRestart({ metadata, spec }: DaemonSet, { nowMs, rollout }: ActionFacts): TemplateChange | ActionRejection {
  const at = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  const present = spec.template.metadata
  if (present?.annotations?.[RESTARTED_AT] === at)
    return refused('ACTION_REJECTED', `DaemonSet ${metadata.name} was restarted within this second`, 'wait a second to restart it again')
  const path = '/spec/template/metadata'
  const parents: readonly PatchOperation[] = [
    ...(present === undefined ? [{ op: 'add', path, value: {} } as const] : []),
    ...(present?.annotations === undefined ? [{ op: 'add', path: `${path}/annotations`, value: {} } as const] : []),
  ]
  return {
    kind: 'change',
    patch: [...parents, { op: 'add', path: `${path}/annotations/${RESTARTED_AT.replace('/', '~1')}`, value: at }],
    message: `${RESTARTED_AT} is set: ${restartText(spec, rollout)}`,
  }
}

function restartText({ updateStrategy }: DaemonSet['spec'], rollout: Rollout | undefined): string {
  if (rollout?.spec.disabled !== true) return 'every pod is replaced in steps'
  return updateStrategy?.type === 'OnDelete'
    ? 'the Rollout is disabled and updateStrategy.type is OnDelete, so no pod is replaced for it'
    : 'the Rollout is disabled, so Kubernetes replaces every pod without steps'
}
