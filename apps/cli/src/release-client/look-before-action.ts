import type { RevisionReport, RolloutReport, ActionBody, ActionType } from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import type { ClientAction, ReleaseClient } from '@tranche/release-client'

type SeenMember = NonNullable<ClientAction['seen']>[number]

/** State of a release before an action, and the body with the members that the look adds. */
export interface ActionLook {
  readonly report: RolloutReport
  /** Newest first; only before an `undo` and an `abort`, and none where the caller may not read them. */
  readonly revisions: readonly RevisionReport[]
  /** The body as it was said, and what is seen of what was not. */
  readonly body: ActionBody
}

/** Members of each action that the command line looks up where the user does not give them. */
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

/** @returns the members that the user has not given and a look adds: with the same key, another look makes no other action */
export function membersToSee({ type, body }: EnteredAction): readonly SeenMember[] {
  return (lookedUp[type] ?? []).filter((member) => body[member] === undefined || isLatest(member, body))
}

/**
 * Looks once at the release that an action is for: the action is written only while that state lasts. An `undo` names the present template
 * and one older revision, so it never goes from a third template to a fourth.
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
  const { step, canaryRevision } = report
  // Without a release there is no step to name, and the refusal says so.
  const isUnmeant = said.type !== 'abort' && step === undefined
  return { report, revisions, body: isUnmeant ? said.body : withSeen(said, { expectedStep: step?.index, revision: canaryRevision }) }
}

/** Revisions only make an abort easier to read: where they cannot be read, it is asked for all the same. */
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

/** As the DaemonSet controller numbers them, the present one is the newest. */
function undoSeen([present, ...older]: readonly RevisionReport[]): Pick<ActionBody, SeenMember> {
  return { revision: present?.revision, toRevision: older.find(({ held }) => !held)?.revision }
}

function withSeen(said: EnteredAction, seen: Pick<ActionBody, SeenMember>): ActionBody {
  const members = membersToSee(said).filter((member) => seen[member] !== undefined)
  return { ...said.body, ...Object.fromEntries(members.map((member) => [member, seen[member]])) }
}

/** As for kubectl. */
function isLatest(member: SeenMember, body: ActionBody): boolean {
  return member === 'toRevision' && body.toRevision === '0'
}
