import {
  type ConfigContent,
  type ConfigKind,
  type ConfigObject,
  contentOf,
  type ExistingCopy,
  kindOfPin,
  type PinView,
  pinKey,
} from '@tranche/config'
import type { KubeClient } from '@tranche/kube-client'
import { isGenuine, toReadCopy } from './copy-on-wire.ts'
import { getConfig, groupsOf, MOST_CONTENT, orUndefined, sizeOf } from './read-sources.ts'

/** The template, the last offer, and the present content may each name another copy of an object. */
const VERSIONS = 3

/** What contents are compared with. */
export interface Comparison extends Pick<PinView, 'sources' | 'recorded'> {
  readonly client: KubeClient
  readonly namespace: string
  /** Uid of the DaemonSet. */
  readonly owner: string
  /** Names of copies that something names, with the keys of their objects. */
  readonly named: ReadonlyMap<string, string>
}

/** Result of {@link compareCopies}. */
export interface Compared {
  readonly copies: readonly ExistingCopy[]
  /** Names that belong to objects with other content, or with content that nothing vouches for. */
  readonly forged: readonly ConfigObject[]
  /** Names that were read, and belong to no such object. */
  readonly free: readonly ConfigObject[]
}

/** Reads copies by their names, and finds out which of those that something names are copies no more. */
export async function compareCopies(
  on: Comparison,
  { listed, asked }: { readonly listed: readonly ExistingCopy[]; readonly asked: readonly ConfigObject[] },
  signal: AbortSignal,
): Promise<Compared> {
  const read = new Map<string, Verdict>()
  // Only copies that no Tranche made can use up the room.
  const room = { left: VERSIONS * MOST_CONTENT }
  for (const group of groupsOf(asked)) {
    const verdicts = await Promise.all(group.map((object) => compareCopy(on, object, signal)))
    for (const [at, object] of group.entries()) read.set(pinKey(object), kept(room, verdicts[at] ?? GONE))
  }
  const unread = listed.filter((copy) => !read.has(pinKey(copy)))
  const isForged = (object: ConfigObject): boolean => read.get(pinKey(object))?.isForged === true
  return {
    copies: [...unread, ...[...read.values()].flatMap(({ copy }) => copy ?? [])],
    forged: asked.filter(isForged),
    free: asked.filter((object) => !isForged(object)),
  }
}

/** What a name belongs to. */
interface Verdict {
  /** Null where it is no copy that pods may read. */
  readonly copy: ExistingCopy | null
  readonly isForged: boolean
}

const GONE: Verdict = { copy: null, isForged: false }

async function compareCopy(on: Comparison, { kind, name }: ConfigObject, signal: AbortSignal): Promise<Verdict> {
  const { client, namespace, owner, named, recorded } = on
  const object = await getConfig(client, kind, { namespace, name }, signal).catch(orUndefined)
  if (object === undefined) return GONE
  const copy = toReadCopy(kind, object, owner)
  const key = named.get(pinKey({ kind, name }))
  if (key === undefined || recorded?.has(object.metadata.uid) === true) return { copy, isForged: false }
  const isTrue = copy !== null && (isBeforeRecords(on, kind) || isGenuine(copy, expected(on, key)))
  return { copy: isTrue ? copy : null, isForged: !isTrue }
}

/** Nothing says what a copy of a Secret held that an earlier version of Tranche made, or whose record a user removed. It is taken as it is. */
function isBeforeRecords({ recorded }: Comparison, kind: ConfigKind): boolean {
  return recorded === undefined && kind === 'Secret'
}

function expected({ sources, owner }: Comparison, key: string): Parameters<typeof isGenuine>[1] {
  const kind = kindOfPin(key)
  const reading = sources.get(key)
  const content: ConfigContent | undefined = reading?.kind === 'found' ? contentOf(reading.source) : undefined
  return { object: { kind, name: key.slice(kind.length + 1) }, owner: { uid: owner }, content }
}

/** Beyond the room, a content is dropped, and its copy counts as one of something else. */
function kept(room: { left: number }, verdict: Verdict): Verdict {
  const { copy } = verdict
  const size = copy?.content === undefined ? 0 : sizeOf(copy.content)
  if (copy !== null && size > room.left) return { ...verdict, copy: { ...copy, content: undefined } }
  room.left -= size
  return verdict
}
