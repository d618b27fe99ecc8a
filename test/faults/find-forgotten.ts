import type { RecordedWrite } from '@tranche/recording'
import { NEXT_IN_ACTIONS, NEXT_MEMBER } from '../scenarios/next-version.ts'

/** A write of ours that has lost what another version had written. */
export interface Forgotten {
  readonly atMs: number
  /** One sentence. */
  readonly text: string
}

/**
 * What the next version has written, and the present one does not know, stays: in the status of a Rollout, in its `canaryStatus` for
 * as long as the same release runs, in the statuses of BatchReleases and policies, in the permit record and its permits, and in each wish on a record, written through us or past us. Where the definitions
 * of the present version are back, it is the API server that drops it.
 *
 * @param isOurs whether this actor is one of our programs
 */
export function findForgotten(writes: readonly RecordedWrite[], isOurs: (actor: string) => boolean): readonly Forgotten[] {
  const known = new Map<string, ReadonlyMap<string, string>>()
  /** Kinds that the API server keeps the member of. */
  const served = new Set<string>()
  /** Rollouts that let their release go. */
  const going = new Set<string>()
  return writes.flatMap(({ kind, type, uid = '', actor = '', t, o }) => {
    if (kind === 'CustomResourceDefinition') {
      const { names } = o['spec'] as { readonly names: { readonly kind: string } }
      if (JSON.stringify(o).includes(`"${NEXT_MEMBER}"`)) served.add(names.kind)
      else served.delete(names.kind)
      return []
    }
    if (!kinds.includes(kind)) return []
    const present = type === 'DELETED' ? new Map<string, string>() : placesOf(o as unknown as Recorded, served.has(kind))
    const before = known.get(uid) ?? new Map<string, string>()
    known.set(uid, present)
    const { phase, canaryStatus } = (o as unknown as Recorded).status ?? {}
    // Enabled again before it had let its release go, a Rollout begins another one, of the same revision too.
    const beginsAgain = going.has(uid) && phase === 'Progressing' && canaryStatus?.currentStepState === 'BeforeStepUpgrade'
    if (phase === 'Disabling') going.add(uid)
    else if (phase !== undefined) going.delete(uid)
    if (type !== 'MODIFIED' || !isOurs(actor)) return []
    const lost = [...before].filter(
      ([place, value]) => value !== '' && present.get(place) === '' && !(beginsAgain && place.startsWith(CANARY_STATUS)),
    )
    return lost.map(([place, value]) => ({ atMs: t, text: `${actor} forgot ${place} of the ${kind}, which ${value} had written` }))
  })
}

const CANARY_STATUS = 'status.canaryStatus'

const kinds: readonly string[] = ['Rollout', 'BatchRelease', 'ReleasePolicy', 'DaemonSet']

interface Recorded {
  readonly metadata?: Annotated
  /** Of a DaemonSet, of which a recording keeps no metadata. */
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

/** Each object that may have the member, by a path that tells whose it is; where it has none, the value is empty. */
function placesOf(
  { status, metadata, annotations = metadata?.annotations ?? {} }: Recorded,
  isServed: boolean,
): ReadonlyMap<string, string> {
  return new Map([...actionPlaces(annotations), ...(isServed && status !== undefined ? statusPlaces(status) : [])])
}

type Places = readonly (readonly [string, string])[]

function actionPlaces(annotations: NonNullable<Annotated['annotations']>): Places {
  return ['tranche.dev/recorded-actions', 'tranche.dev/seen-actions'].flatMap((key) => {
    const actions = JSON.parse(annotations[key] ?? '[]') as readonly { readonly id: string; readonly [NEXT_IN_ACTIONS]?: string }[]
    return actions.map((action) => [`${action.id} in ${key}`, action[NEXT_IN_ACTIONS] ?? ''] as const)
  })
}

function statusPlaces(status: NonNullable<Recorded['status']>): Places {
  const { canaryStatus, flight, releaseGeneration, phase } = status
  const marked: (readonly [string, Marked | undefined])[] = [
    ['status', status],
    // A disabled Rollout tells of a release that it has let go: enabled again it begins another one, of the same revision too.
    ...(canaryStatus?.canaryRevision === undefined || phase === 'Disabled'
      ? []
      : [[`${CANARY_STATUS} (${canaryStatus.canaryRevision}, from generation ${releaseGeneration})`, canaryStatus] as const]),
    [`status.flight (${flight?.workloadUid})`, flight],
    ...(flight?.permits ?? []).map((permit) => [`the permit of pod ${permit.podUid} at ${permit.podResourceVersion}`, permit] as const),
  ]
  return marked.flatMap(([place, object]) => (object === undefined ? [] : [[place, object[NEXT_MEMBER] ?? ''] as const]))
}
