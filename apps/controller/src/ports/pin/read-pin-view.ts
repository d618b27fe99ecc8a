import {
  type ConfigKind,
  type ConfigObject,
  copiesNamed,
  type ExistingCopy,
  freeName,
  kindOfPin,
  MOST_OBJECTS,
  namedCopies,
  OFFERED_CONFIG_ANNOTATION,
  parseRecorded,
  pinKey,
  pinnedObjects,
  type PinView,
  RECORDED_COPIES_ANNOTATION,
  type SourceReading,
} from '@tranche/config'
import type { PinPort } from '@tranche/controllers'
import { AppError } from '@tranche/errors'
import { isForbidden, type KubeClient } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { compareCopies } from './compare-copies.ts'
import type { ForeignNames } from './foreign-names.ts'
import { type ListedCopies, listCopies } from './list-copies.ts'
import { missingRight, readSources } from './read-sources.ts'
import { clientFor } from './secret-client.ts'

/** Dependencies of {@link readPinView}. */
export interface PinViewParts {
  readonly client: KubeClient
  readonly kinds: readonly ConfigKind[]
  /** Names of copies that other objects have. Learns those that are found. */
  readonly taken: ForeignNames
}

type PinReading = Awaited<ReturnType<PinPort['read']>>

/**
 * Reads the objects that a template names, and the copies of its DaemonSet. Of copies, it reads the metadata. It reads the content of
 * those that something names and that are not recorded. It also reads that of those few that may hold the present content under the name of an earlier one.
 */
export async function readPinView(
  parts: PinViewParts,
  { daemonSet, revisions }: { readonly daemonSet: DaemonSet; readonly revisions: PinView['revisions'] },
  signal: AbortSignal,
): Promise<PinReading> {
  const { kinds, client } = parts
  const { namespace = '', name, uid, annotations = {}, generation } = daemonSet.metadata
  const { template } = daemonSet.spec
  const { [OFFERED_CONFIG_ANNOTATION]: offered, [RECORDED_COPIES_ANNOTATION]: recordedText } = annotations
  const objects = pinnedObjects(template).filter(({ kind }) => kinds.includes(kind))
  const isObserved = daemonSet.status?.observedGeneration === generation
  const recorded = parseRecorded(recordedText)
  const view = { owner: { namespace, name, uid }, kinds, template, offered, isObserved, recorded }
  // The plan says so, and needs no content.
  if (objects.length > MOST_OBJECTS) return { ...view, taken: new Map(), sources: new Map(), copies: [], forged: [] }
  const sources = await readSources(client, objects, namespace, signal)
  const lists = await Promise.all(kinds.map((kind) => listOf(client, kind, daemonSet, signal)))
  const salts = parts.taken.in(namespace)
  const reading: Reading = {
    daemonSet,
    salts,
    objects,
    sources,
    offered,
    lists,
    recorded,
    named: namedIn(kinds, { template, offered, revisions }),
  }
  const comparison = { client, namespace, owner: uid, sources, recorded, named: reading.named }
  const { copies, forged, free } = await compareCopies(comparison, { listed: listedIn(reading), asked: askedIn(reading) }, signal)
  // A name is free again once its object is gone, or is the copy.
  for (const one of free) parts.taken.drop({ ...one, namespace })
  for (const one of forged) parts.taken.add({ ...one, namespace })
  const taken = parts.taken.in(namespace)
  return { ...view, taken, sources, copies: copies.filter((copy) => !taken.has(pinKey(copy))), forged: forged.map(pinKey) }
}

interface Reading {
  /** Salts of names that other objects have, by `ConfigMap/name`. */
  readonly salts: ReadonlyMap<string, string>
  readonly daemonSet: DaemonSet
  readonly objects: readonly ConfigObject[]
  readonly sources: ReadonlyMap<string, SourceReading>
  readonly offered: string | undefined
  readonly lists: readonly ListOfKind[]
  readonly recorded: PinView['recorded']
  /** Names of copies that something names, with the keys of their objects. */
  readonly named: ReadonlyMap<string, string>
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

function namedIn(kinds: readonly ConfigKind[], naming: Parameters<typeof copiesNamed>[0]): ReadonlyMap<string, string> {
  return new Map([...copiesNamed(naming)].filter(([, key]) => kinds.includes(kindOfPin(key))))
}

function listedIn({ lists }: Reading): readonly ExistingCopy[] {
  return lists.flatMap(({ copies }) => copies)
}

/** Largest number of names that are read because no copy in the list has them. */
const MOST_MISSING = 3 * MOST_OBJECTS

/** Copies that are read by their names. */
function askedIn(reading: Reading): readonly ConfigObject[] {
  const listed = listedIn(reading)
  const names = new Set(listed.map(pinKey))
  const missing = [...reading.named.keys(), ...freeBeyondLists(reading)].filter((copy) => !names.has(copy)).slice(0, MOST_MISSING)
  const unproven = listed.filter((copy) => isUnproven(reading, copy)).map(pinKey)
  return [...new Set([...missing, ...unproven, ...mayHoldPresent(reading).map(pinKey)])].map(toObject)
}

function toObject(copy: string): ConfigObject {
  const kind = kindOfPin(copy)
  return { kind, name: copy.slice(kind.length + 1) }
}

/** Where a list is cut, copies of the present content are read by their names. */
function freeBeyondLists(reading: Reading): readonly string[] {
  return reading.lists.flatMap(({ kind, isCut }) =>
    isCut ? reading.objects.flatMap((object) => (object.kind === kind ? freeKeys(reading, object) : [])) : [],
  )
}

/** Whether something names an object that looks like a copy, and that was not compared yet. */
function isUnproven({ named, recorded }: Reading, copy: ExistingCopy): boolean {
  return named.has(pinKey(copy)) && recorded?.has(copy.uid) !== true
}

/** Copies that may hold the present content of their object under another name. That of a ConfigMap's copy without a salt says what it holds. */
function mayHoldPresent(reading: Reading): readonly ExistingCopy[] {
  const { daemonSet, objects, offered } = reading
  const view = { template: daemonSet.spec.template, offered, copies: listedIn(reading) }
  return objects.flatMap((object) => {
    const [free] = freeKeys(reading, object)
    if (free === undefined) return []
    return namedCopies(view, object).filter((copy) => pinKey(copy) !== free && (copy.kind === 'Secret' || copy.salt !== undefined))
  })
}

/** The name of a new copy of the present content; none without that. */
function freeKeys({ sources, daemonSet, salts }: Reading, object: ConfigObject): readonly string[] {
  const found = sources.get(pinKey(object))
  return found?.kind === 'found' ? [pinKey({ kind: object.kind, name: freeName(found.source, daemonSet.metadata, salts).name })] : []
}
