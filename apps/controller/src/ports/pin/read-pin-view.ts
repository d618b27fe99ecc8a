import {
  type ConfigKind,
  type ConfigObject,
  type ExistingCopy,
  freeName,
  MOST_OBJECTS,
  namedCopies,
  OFFERED_CONFIG_ANNOTATION,
  parsePins,
  pinKey,
  pinnedObjects,
  pinsOf,
  type SourceReading,
} from '@tranche/config'
import type { PinPort } from '@tranche/controllers'
import { AppError } from '@tranche/errors'
import { isForbidden, type KubeClient } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { toReadCopy } from './copy-on-wire.ts'
import { type ListedCopies, listCopies } from './list-copies.ts'
import { getConfig, groupsOf, missingRight, MOST_CONTENT, orUndefined, readSources, sizeOf } from './read-sources.ts'
import { clientFor } from './secret-client.ts'

/** Dependencies of {@link readPinView}. */
export interface PinViewParts {
  readonly client: KubeClient
  readonly kinds: readonly ConfigKind[]
  /** Salts of names that other objects have, by `ConfigMap/name`. */
  readonly taken: ReadonlyMap<string, string>
}

type PinReading = Awaited<ReturnType<PinPort['read']>>

/**
 * Reads the objects that a template names, and the copies of its DaemonSet. Of copies, it reads the metadata, and the content of those few
 * that may hold the present content under the name of an earlier one.
 */
export async function readPinView(parts: PinViewParts, daemonSet: DaemonSet, signal: AbortSignal): Promise<PinReading> {
  const { kinds, taken } = parts
  const { namespace = '', name, uid, annotations = {}, generation } = daemonSet.metadata
  const { template } = daemonSet.spec
  const offered = annotations[OFFERED_CONFIG_ANNOTATION]
  const objects = pinnedObjects(template).filter(({ kind }) => kinds.includes(kind))
  const isObserved = daemonSet.status?.observedGeneration === generation
  const view = { owner: { namespace, name, uid }, kinds, template, offered, taken, isObserved }
  // The plan says so, and needs no content.
  if (objects.length > MOST_OBJECTS) return { ...view, sources: new Map(), copies: [] }
  const sources = await readSources(parts.client, objects, namespace, signal)
  const reader: CopyReader = { ...parts, daemonSet, signal, objects, sources, offered, room: { left: VERSIONS * MOST_CONTENT } }
  const listed = await readCopies(reader)
  const copies = (await withContents(reader, listed)).filter((copy) => !taken.has(pinKey(copy)))
  return { ...view, sources, copies }
}

/** The template, the last offer, and the present content may each name another copy of an object. */
const VERSIONS = 3

interface CopyReader extends PinViewParts {
  /** Characters of copies that are still kept. Only copies that no Tranche made can use them up. */
  readonly room: { left: number }
  readonly daemonSet: DaemonSet
  readonly objects: readonly ConfigObject[]
  readonly sources: ReadonlyMap<string, SourceReading>
  readonly offered: string | undefined
  readonly signal: AbortSignal
}

interface ListOfKind extends ListedCopies {
  readonly kind: ConfigKind
}

async function listOf(client: KubeClient, kind: ConfigKind, daemonSet: DaemonSet, signal: AbortSignal): Promise<ListOfKind> {
  try {
    return { kind, ...(await listCopies(clientFor(kind, client), kind, daemonSet, signal)) }
  } catch (error) {
    if (!isForbidden(error)) throw error
    throw new AppError('API_REFUSED', missingRight('list', kind), { cause: error })
  }
}

/** Where a list is cut, the copies that a decision needs are read by their names. */
async function readCopies(reader: CopyReader): Promise<readonly ExistingCopy[]> {
  const { client, kinds, daemonSet, signal } = reader
  const lists = await Promise.all(kinds.map((kind) => listOf(client, kind, daemonSet, signal)))
  const missing = lists.flatMap((list) => (list.isCut ? needed(reader, list) : []))
  const read = await readEach(reader, missing)
  return [...lists.flatMap(({ copies }) => copies), ...[...read.values()].flatMap((copy) => copy ?? [])]
}

function needed({ objects, sources, daemonSet, offered, taken }: CopyReader, { kind, copies }: ListOfKind): readonly ConfigObject[] {
  const named = [pinsOf(daemonSet.spec.template), parsePins(offered)]
  const names = objects.flatMap((object) => {
    const found = sources.get(pinKey(object))
    if (object.kind !== kind) return []
    const free = found?.kind === 'found' ? freeName(found.source, daemonSet.metadata, taken).name : undefined
    return [...named.map((pins) => pins.get(pinKey(object))), free].filter((name) => name !== undefined)
  })
  return [...new Set(names)].filter((name) => !copies.some((copy) => copy.name === name)).map((name) => ({ kind, name }))
}

async function withContents(reader: CopyReader, copies: readonly ExistingCopy[]): Promise<readonly ExistingCopy[]> {
  const { daemonSet, objects, sources, offered, taken } = reader
  const { template } = daemonSet.spec
  const asked = objects.flatMap((object) => {
    const found = sources.get(pinKey(object))
    if (found?.kind !== 'found') return []
    const free = freeName(found.source, daemonSet.metadata, taken).name
    // The name of a ConfigMap's copy without a salt says what the copy holds.
    return namedCopies({ template, offered, copies }, object).filter(
      ({ kind, name, salt, content }) => content === undefined && name !== free && (kind === 'Secret' || salt !== undefined),
    )
  })
  const read: ReadonlyMap<ConfigObject, ExistingCopy | null> = await readEach(reader, asked)
  return copies.flatMap((copy) => (read.has(copy) ? (read.get(copy) ?? []) : [copy]))
}

/** @returns the copies, null for one that is gone; beyond the room their contents are dropped, and they count as copies of something else */
async function readEach<T extends ConfigObject>(reader: CopyReader, objects: readonly T[]): Promise<ReadonlyMap<T, ExistingCopy | null>> {
  const found = new Map<T, ExistingCopy | null>()
  for (const group of groupsOf(objects)) {
    const read = await Promise.all(group.map((object) => readCopy(reader, object)))
    for (const [at, object] of group.entries()) found.set(object, kept(reader, read[at] ?? null))
  }
  return found
}

function kept({ room }: CopyReader, copy: ExistingCopy | null): ExistingCopy | null {
  const size = copy?.content === undefined ? 0 : sizeOf(copy.content)
  if (copy === null || size > room.left) return copy === null ? null : { ...copy, content: undefined }
  room.left -= size
  return copy
}

async function readCopy({ client, daemonSet, signal }: CopyReader, { kind, name }: ConfigObject): Promise<ExistingCopy | null> {
  const { namespace = '', uid } = daemonSet.metadata
  const object = await getConfig(client, kind, { namespace, name }, signal).catch(orUndefined)
  return object === undefined ? null : toReadCopy(kind, object, uid)
}
