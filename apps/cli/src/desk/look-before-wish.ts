import type { RevisionReport, RolloutReport, WishBody, WishType } from '@tranche/api-schema'
import type { ObjectKey } from '@tranche/kube-types'
import type { DeskWish, ReleaseDesk } from '@tranche/steering'

type SeenMember = NonNullable<DeskWish['seen']>[number]

/** What stands when somebody is about to wish for something, and what the wish is meant for by that. */
export interface WishLook {
  readonly report: RolloutReport
  /** Newest first; only before an `undo` and an `abort`, and none where the caller may not read them. */
  readonly revisions: readonly RevisionReport[]
  /** The body as it was said, and what is seen of what was not. */
  readonly body: WishBody
}

/** Of what a wish is about, these are looked up where nobody says them. */
const lookedUp: Partial<Readonly<Record<WishType, readonly SeenMember[]>>> = {
  approve: ['expectedStep', 'revision'],
  jump: ['expectedStep', 'revision'],
  promote: ['expectedStep', 'revision'],
  abort: ['revision'],
  undo: ['revision', 'toRevision'],
}

/** What a wish is to be, as it was said. */
export interface SaidWish {
  readonly type: WishType
  readonly body: WishBody
}

/** @returns the members that nobody has said, and that a look says: with the same key, another look makes no other wish */
export function membersToSee({ type, body }: SaidWish): readonly SeenMember[] {
  return (lookedUp[type] ?? []).filter((member) => body[member] === undefined || isLatest(member, body))
}

/**
 * Looks at what a wish is about, once: it is written only while that still stands. An `undo` is meant for the present template and for one
 * older revision, so that it never goes from another one to yet another.
 */
export async function lookBeforeWish(desk: Pick<ReleaseDesk, 'report' | 'picture'>, key: ObjectKey, said: SaidWish): Promise<WishLook> {
  if (said.type === 'undo') {
    const { report, revisions } = await desk.picture(key)
    return { report, revisions, body: withSeen(said, undoSeen(revisions)) }
  }
  const { report, revisions } = said.type === 'abort' ? await lookAtRevisions(desk, key) : { report: await desk.report(key), revisions: [] }
  const { step, canaryRevision } = report
  // Without a release there is no step to name, and the refusal says so.
  const isUnmeant = said.type !== 'abort' && step === undefined
  return { report, revisions, body: isUnmeant ? said.body : withSeen(said, { expectedStep: step?.index, revision: canaryRevision }) }
}

/** Revisions only make an abort easier to read: where they cannot be read, it is asked for all the same. */
async function lookAtRevisions(desk: Pick<ReleaseDesk, 'report' | 'picture'>, key: ObjectKey): Promise<Omit<WishLook, 'body'>> {
  try {
    return await desk.picture(key)
  } catch {
    return { report: await desk.report(key), revisions: [] }
  }
}

/** As the DaemonSet controller numbers them, the present one is the newest. */
function undoSeen([present, ...older]: readonly RevisionReport[]): Pick<WishBody, SeenMember> {
  return { revision: present?.revision, toRevision: older.find(({ held }) => !held)?.revision }
}

function withSeen(said: SaidWish, seen: Pick<WishBody, SeenMember>): WishBody {
  const members = membersToSee(said).filter((member) => seen[member] !== undefined)
  return { ...said.body, ...Object.fromEntries(members.map((member) => [member, seen[member]])) }
}

/** As for kubectl. */
function isLatest(member: SeenMember, body: WishBody): boolean {
  return member === 'toRevision' && body.toRevision === '0'
}
