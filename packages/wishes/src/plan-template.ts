import type { PatchOperation } from '@tranche/flight'
import type { ControllerRevision, DaemonSet } from '@tranche/kube-types'
import { hashOf, plainTemplate, templateOf, templateText } from '@tranche/planner'
import { refused, type WishFacts, type WishRefusal } from './wish.ts'

/** A change of a DaemonSet's template. */
export interface TemplateChange {
  readonly kind: 'change'
  readonly patch: readonly PatchOperation[]
  /** What is changed, for a person. */
  readonly message: string
}

/** Annotation of the pod template with which `kubectl rollout restart` makes a new revision. */
const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt'

/**
 * The template of an earlier revision, as `kubectl rollout undo` puts it back: whole, and nothing else of the DaemonSet.
 *
 * @param toRevision number or controller-revision-hash; undefined (or `0`, as for kubectl) is the newest before the present one
 */
export function planUndo(daemonSet: DaemonSet, { revisions }: WishFacts, toRevision: string | undefined): TemplateChange | WishRefusal {
  const newestFirst = [...revisions].sort((a, b) => b.revision - a.revision)
  const now = templateText(daemonSet.spec.template)
  const present = newestFirst.find((revision) => templateText(templateOf(revision)) === now)
  if (present === undefined) {
    const message = `the DaemonSet controller has not made a revision of the present template of DaemonSet ${daemonSet.metadata.name} yet`
    return refused('WISH_REFUSED', message, 'try again in a moment')
  }
  const target = earlier(newestFirst, present, toRevision)
  if (target.kind === 'refused') return target
  const { revision } = target
  const template = plainTemplate(revision)
  if (template === null)
    return refused('WISH_REFUSED', `revision ${revision.revision} holds no template`, 'apply the template that you want')
  return {
    kind: 'change',
    patch: [{ op: 'replace', path: '/spec/template', value: template }],
    message: `the template of revision ${revision.revision} (${hashOf(revision)}) is put back`,
  }
}

interface Target {
  readonly kind: 'found'
  readonly revision: ControllerRevision
}

function earlier(
  newestFirst: readonly ControllerRevision[],
  present: ControllerRevision,
  toRevision: string | undefined,
): Target | WishRefusal {
  const wanted = toRevision === undefined || toRevision === '0' ? undefined : toRevision
  const revision =
    wanted === undefined
      ? newestFirst.find((one) => one !== present)
      : (newestFirst.find((one) => hashOf(one) === wanted) ?? newestFirst.find((one) => String(one.revision) === wanted))
  if (revision === undefined) return noRevision(newestFirst, wanted)
  if (templateText(templateOf(revision)) !== templateText(templateOf(present))) return { kind: 'found', revision }
  return refused('WISH_REFUSED', `revision ${revision.revision} (${hashOf(revision)}) is the present one`, 'name an earlier revision')
}

function noRevision(newestFirst: readonly ControllerRevision[], wanted: string | undefined): WishRefusal {
  const known = newestFirst.map((revision) => `${revision.revision} (${hashOf(revision)})`).join(', ')
  if (wanted === undefined)
    return refused(
      'WISH_REFUSED',
      `there is no revision before the present one; the history has ${known}`,
      'apply the template that you want',
    )
  return {
    ...refused('REVISION_NOT_FOUND', `there is no revision ${wanted} in the history`, `name one of ${known}`),
    path: 'toRevision',
  }
}

/** An annotation of the pod template that says when, as `kubectl rollout restart` writes it. */
export function planRestart({ metadata, spec }: DaemonSet, { nowMs }: WishFacts): TemplateChange | WishRefusal {
  const at = new Date(nowMs).toISOString().replace(/\.\d+Z$/, 'Z')
  const present = spec.template.metadata
  if (present?.annotations?.[RESTARTED_AT] === at)
    return refused(
      'WISH_REFUSED',
      `DaemonSet ${metadata.name} was restarted within this second`,
      'wait a second, where it is to be restarted once more',
    )
  const path = '/spec/template/metadata'
  const parents: readonly PatchOperation[] = [
    ...(present === undefined ? [{ op: 'add', path, value: {} } as const] : []),
    ...(present?.annotations === undefined ? [{ op: 'add', path: `${path}/annotations`, value: {} } as const] : []),
  ]
  return {
    kind: 'change',
    patch: [...parents, { op: 'add', path: `${path}/annotations/${RESTARTED_AT.replace('/', '~1')}`, value: at }],
    message: 'every pod is to be made anew',
  }
}
