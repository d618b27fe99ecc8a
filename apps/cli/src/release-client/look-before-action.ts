import type { RevisionReport, RolloutReport, ActionBody, ActionType } from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import type { ClientAction, ReleaseClient } from '@tranche/release-client'

type SeenMember = NonNullable<ClientAction['seen']>[number]

/** State of a release before an action, and the body with preconditions from that state. */
export interface ActionLook {
  readonly report: RolloutReport
  /** Newest first; read only for `undo` and `abort`; empty if the caller may not read them. */
  readonly revisions: readonly RevisionReport[]
  /** The given body, with missing preconditions from the state. */
  readonly body: ActionBody
}

/** Preconditions of each action that the command adds if the user does not give them. */
const lookedUp: Partial<Readonly<Record<ActionType, readonly SeenMember[]>>> = {
  approve: ['expectedStep', 'revision'],
  jump: ['expectedStep', 'revision'],
  promote: ['expectedStep', 'revision'],
  abort: ['revision'],
  undo: ['revision', 'toRevision'],
}

/** Type and body of an action as the user gave them. */
export interface EnteredAction {
  readonly type: ActionType
  readonly body: ActionBody
}

/** @returns the members that the command adds; they do not distinguish two actions with the same idempotency key */
export function membersToSee({ type, body }: EnteredAction): readonly SeenMember[] {
  return (lookedUp[type] ?? []).filter((member) => body[member] === undefined || isLatest(member, body))
}

/**
 * Reads the release before an action: the action applies only to that state. An `undo` names the current template and one older
 * revision, so it never replaces a template that was applied meanwhile.
 */
export async function lookBeforeAction(
  releaseClient: Pick<ReleaseClient, 'report' | 'picture'>,
  key: ObjectKey,
  said: EnteredAction,
): Promise<ActionLook> {
  if (said.type === 'undo') {
    const { report, revisions } = await releaseClient.picture(key)
    return { report, revisions, body: withSeen(said, undoSeen(revisions)) }
  }
  const { report, revisions } =
    said.type === 'abort' ? await lookAtRevisions(releaseClient, key) : { report: await releaseClient.report(key), revisions: [] }
  const { step, canaryRevision, phase } = report
  // Between releases the step is that of the last one, and only an option that the user gives may be at fault.
  const expectedStep = phase === 'Progressing' ? step?.index : undefined
  const isUnmeant = said.type !== 'abort' && step === undefined
  return { report, revisions, body: isUnmeant ? said.body : withSeen(said, { expectedStep, revision: canaryRevision }) }
}

/** Reads the revisions for the preview of an abort; without permission to read them, the preview omits them. */
async function lookAtRevisions(
  releaseClient: Pick<ReleaseClient, 'report' | 'picture'>,
  key: ObjectKey,
): Promise<Omit<ActionLook, 'body'>> {
  try {
    return await releaseClient.picture(key)
  } catch {
    return { report: await releaseClient.report(key), revisions: [] }
  }
}

/** The first revision is the current one, because the DaemonSet controller gives it the highest number. */
function undoSeen([present, ...older]: readonly RevisionReport[]): Pick<ActionBody, SeenMember> {
  return { revision: present?.revision, toRevision: older.find(({ held }) => !held)?.revision }
}

function withSeen(said: EnteredAction, seen: Pick<ActionBody, SeenMember>): ActionBody {
  const members = membersToSee(said).filter((member) => seen[member] !== undefined)
  return { ...said.body, ...Object.fromEntries(members.map((member) => [member, seen[member]])) }
}

/** `--to-revision 0` means the previous revision, as in kubectl. */
function isLatest(member: SeenMember, body: ActionBody): boolean {
  return member === 'toRevision' && body.toRevision === '0'
}
