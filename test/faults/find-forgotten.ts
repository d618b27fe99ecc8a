import type { RecordedDelivery, RecordedWrite, Stall } from '@tranche/recording'
import { NEXT_IN_ACTIONS, NEXT_MEMBER } from '../scenarios/next-version.ts'

/** A write by one of our programs that has lost data of another version. */
export interface Forgotten {
  readonly atMs: number
  /** One sentence. */
  readonly text: string
}

/** Facts that show which versions of objects a decision was based on. */
export interface Seen {
  /** Periods in which actors were frozen, or had decided something and not sent it yet, the latest first. */
  readonly stalls: readonly Stall[]
  readonly deliveries: readonly RecordedDelivery[]
}

/**
 * Checks that members which the next version has written stay, though the present version does not know them.
 *
 * They are in the statuses of Rollouts, BatchReleases and policies, and in the permit record and its permits. Each recorded action and
 * observed change has one. A `canaryStatus` keeps its member for as long as the same release runs.
 *
 * While the definitions of the present version are installed, the API server drops these members. A write that was decided on an object
 * without them may arrive when the next definitions are installed again.
 *
 * @param isOurs whether this actor is one of our programs
 * @param seen further facts that show which versions of objects a decision was based on
 */
export function findForgotten(
  writes: readonly RecordedWrite[],
  isOurs: (actor: string) => boolean,
  seen: Seen = { stalls: [], deliveries: [] },
): readonly Forgotten[] {
  const known = new Map<string, ReadonlyMap<string, string>>()
  /** Kinds of which the API server keeps the member, and since when. */
  const served = new Map<string, number>()
  /** Rollouts that are detaching their release. */
  const going = new Set<string>()
  return writes.flatMap(({ kind, type, uid = '', actor = '', t, sent = t, o }) => {
    if (kind === 'CustomResourceDefinition') {
      const { names } = o['spec'] as { readonly names: { readonly kind: string } }
      if (JSON.stringify(o).includes(`"${NEXT_MEMBER}"`)) served.set(names.kind, served.get(names.kind) ?? t)
      else served.delete(names.kind)
      return []
    }
    if (!kinds.includes(kind)) return []
    const present = type === 'DELETED' ? new Map<string, string>() : placesOf(o as unknown as Recorded, served.has(kind))
    const before = known.get(uid) ?? new Map<string, string>()
    known.set(uid, present)
    const { phase, canaryStatus } = (o as unknown as Recorded).status ?? {}
    // A Rollout that is enabled again before it has detached its release starts another one, possibly of the same revision.
    const beginsAgain = going.has(uid) && phase === 'Progressing' && canaryStatus?.currentStepState === 'BeforeStepUpgrade'
    if (phase === 'Disabling') going.add(uid)
    else if (phase !== undefined) going.delete(uid)
    if (type !== 'MODIFIED' || !isOurs(actor)) return []
    const wasCut = !hasReadAgain({ actor, kind, sinceMs: served.get(kind), atMs: decidedMs({ actor, sent }, seen.stalls) }, seen)
    const lost = [...before].filter(
      ([place, value]) =>
        value !== '' &&
        present.get(place) === '' &&
        !(beginsAgain && place.startsWith(CANARY_STATUS)) &&
        !(wasCut && !actionLists.some((key) => place.endsWith(key))),
    )
    return lost.map(([place, value]) => ({ atMs: t, text: `${actor} forgot ${place} of the ${kind}, which ${value} had written` }))
  })
}

function decidedMs({ actor, sent }: { readonly actor: string; readonly sent: number }, stalls: readonly Stall[]): number {
  let atMs = sent
  for (const { actor: stalledActor, fromMs, toMs } of stalls) if (stalledActor === actor && fromMs <= atMs && atMs <= toMs) atMs = fromMs
  return atMs
}

interface Reading {
  readonly actor: string
  readonly kind: string
  /** Since when the definitions are those of the next version; undefined if they are not. */
  readonly sinceMs: number | undefined
  readonly atMs: number
}

/**
 * A watch ends soon after other definitions were installed. Objects read before that may lack the member. The API reads each object
 * again.
 */
function hasReadAgain({ actor, kind, sinceMs, atMs }: Reading, { deliveries }: Seen): boolean {
  if (sinceMs === undefined) return true
  const fromMs = sinceMs + WATCHES_END_MS
  if (actor.startsWith('api-')) return atMs >= fromMs
  const own = deliveries.filter(({ to, of }) => to === actor && of === `${kind.toLowerCase()}s`)
  return own.length === 0 ? atMs >= fromMs : own.some(({ t }) => t >= fromMs && t <= atMs)
}

/** Time until the watches of a kind whose definition has changed have ended, in milliseconds. */
const WATCHES_END_MS = 2_000
const CANARY_STATUS = 'status.canaryStatus'
const actionLists = ['tranche.dev/recorded-actions', 'tranche.dev/observed-changes'] as const

const kinds: readonly string[] = ['Rollout', 'BatchRelease', 'ReleasePolicy', 'DaemonSet']

interface Recorded {
  readonly metadata?: Annotated
  /** Of a DaemonSet; its recording has no metadata. */
  readonly annotations?: Annotated['annotations']
  readonly status?: Marked & {
    readonly phase?: string
    readonly releaseGeneration?: number
    readonly canaryStatus?: Marked & { readonly canaryRevision?: string; readonly currentStepState?: string }
    readonly flight?: Marked & { readonly workloadUid: string; readonly permits: readonly (Marked & PermitId)[] }
  }
}

interface Annotated {
  readonly annotations?: Readonly<Record<string, string>>
}

interface Marked {
  readonly [NEXT_MEMBER]?: string
}

interface PermitId {
  readonly podUid: string
  readonly podResourceVersion: string
}

/** Each object that may have the member, by a path that identifies it; the value is empty if it has none. */
function placesOf(
  { status, metadata, annotations = metadata?.annotations ?? {} }: Recorded,
  isServed: boolean,
): ReadonlyMap<string, string> {
  return new Map([...actionPlaces(annotations), ...(isServed && status !== undefined ? statusPlaces(status) : [])])
}

type Places = readonly (readonly [string, string])[]

function actionPlaces(annotations: NonNullable<Annotated['annotations']>): Places {
  return actionLists.flatMap((key) => {
    const actions = JSON.parse(annotations[key] ?? '[]') as readonly { readonly id: string; readonly [NEXT_IN_ACTIONS]?: string }[]
    return actions.map((action) => [`${action.id} in ${key}`, action[NEXT_IN_ACTIONS] ?? ''] as const)
  })
}

function statusPlaces(status: NonNullable<Recorded['status']>): Places {
  const { canaryStatus, flight, releaseGeneration, phase } = status
  const marked: (readonly [string, Marked | undefined])[] = [
    ['status', status],
    // A disabled Rollout reports a release that it has detached: enabled again it starts another one, possibly of the same revision.
    ...(canaryStatus?.canaryRevision === undefined || phase === 'Disabled'
      ? []
      : [[`${CANARY_STATUS} (${canaryStatus.canaryRevision}, from generation ${releaseGeneration})`, canaryStatus] as const]),
    [`status.flight (${flight?.workloadUid})`, flight],
    ...(flight?.permits ?? []).map((permit) => [`the permit of pod ${permit.podUid} at ${permit.podResourceVersion}`, permit] as const),
  ]
  return marked.flatMap(([place, object]) => (object === undefined ? [] : [[place, object[NEXT_MEMBER] ?? ''] as const]))
}
