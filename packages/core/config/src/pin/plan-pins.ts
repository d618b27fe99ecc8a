import { type ConfigCopy, type ConfigSource, freeName, isSameContent, toCopy } from './config-copy.ts'
import type { ConfigObject } from '../judge-config.ts'
import { fieldBeyondLimits, MOST_OBJECTS, placesBeyondWork } from './pin-limits.ts'
import type { ExistingCopy, PinView } from './pin-view.ts'
import { pinnedObjects, pinsOf } from './pinned-objects.ts'
import { kindOfPin, parsePins, pinKey, type Pins, pinsText } from './pins.ts'
import { nextRecord } from './recorded-copies.ts'

/** The one write of a pass. */
export type PinPlan =
  /** Nothing to do. */
  | (PinsInPlace & { readonly kind: 'none' })
  /** The release waits until a user or the cluster changes something. */
  | { readonly kind: 'wait'; readonly reason: 'ConfigUnread' | 'Uncopyable' | 'BeyondLimits'; readonly message: string }
  | { readonly kind: 'createCopy'; readonly copy: ConfigCopy }
  /** Removes the mark of a copy that the template names, or will name. The write tests its resourceVersion. */
  | { readonly kind: 'keepCopy'; readonly copy: ExistingCopy }
  /**
   * Writes the annotations in one patch, which tests the resourceVersion of the DaemonSet that was read. Before the patch, every copy in
   * `pins` is read live: each must exist without a mark. `pins` is null where the template stays. `recorded`: uids of
   * copies that were compared, without those in `pins` that are not named yet.
   */
  | { readonly kind: 'pin'; readonly pins: string | null; readonly offered: string; readonly recorded: readonly string[] }
  /**
   * The pins are in place, as with `none`, and copies are to be collected. No release depends on that: any user who may create objects can make
   * one that looks like a copy and cannot be marked or deleted.
   */
  | (PinsInPlace & { readonly kind: 'collect'; readonly collection: Collection })

/** What pods read while every object that can be copied has its copy. */
export interface PinsInPlace {
  /** Objects of which pods read an earlier content than the present one, because of an undo or a rollback. */
  readonly rolledBack: readonly ConfigObject[]
  /** Objects that do not exist, and have no copy: they are pinned as soon as they exist. @default none */
  readonly absent?: readonly ConfigObject[]
}

/** Work on copies of which no pin is made now. Each write tests the uid and resourceVersion of its copy. */
export interface Collection {
  /** Marked copies that something names; they lose the mark. */
  readonly named: readonly ExistingCopy[]
  /** Copies that nothing names; they get the mark. */
  readonly unused: readonly ExistingCopy[]
  /**
   * Copies that nothing names and that were marked before. The DaemonSet is touched first, with a test of its resourceVersion. Then revisions and
   * pods are read live, and those copies are deleted that {@link garbageOf} still returns.
   */
  readonly marked: readonly ExistingCopy[]
}

/**
 * Decides the next write for the config of a DaemonSet. Pure.
 *
 * A content that was not offered before is offered: the template then names copies of all present objects. A content that was offered is
 * not offered again, so the template of an undo or a rollback stays, whatever Git holds. An object that is gone keeps its copy.
 *
 * No template names a copy that Tranche deletes, also where processes are frozen between a read and its write. A copy is marked, then the
 * DaemonSet is touched, then the copy is deleted. A patch that tests an earlier version of the DaemonSet fails. One that tests a later version
 * has read the mark. A process that keeps a marked copy moves its resourceVersion,
 * so that the deletion fails.
 */
export function planPins(view: PinView): PinPlan {
  const objects = objectsOf(view)
  if (objects.length > MOST_OBJECTS) return { kind: 'wait', reason: 'BeyondLimits', message: tooManyText(objects.length) }
  const unread = objects.flatMap((object) => unreadText(view, object))
  if (unread.length > 0) return { kind: 'wait', reason: 'ConfigUnread', message: listText(unread) }
  const uncopyable = objects.flatMap((object) => uncopyableText(view, object))
  if (uncopyable.length > 0) return { kind: 'wait', reason: 'Uncopyable', message: listText(uncopyable) }
  const present = pinsOf(view.template)
  const wanted = wantedPins(view, objects)
  const beyond = beyondPlan(view, wanted)
  if (beyond !== null) return beyond
  const offer = offerOf(view, wanted)
  const target = isNews(view, offer) ? wanted : new Map([...wanted].map(([key, copy]) => [key, keptName(view, present, key) ?? copy]))
  for (const [key, copy] of [...target, ...wanted]) {
    const existing = copyOf(view, key, copy)
    if (existing?.isUnused === true) return { kind: 'keepCopy', copy: existing }
    if (existing !== undefined) continue
    const found = view.sources.get(key)
    if (found?.kind === 'found') return createPlan(view, found.source)
  }
  const isInPlace = [...target].every(([key, copy]) => present.get(key) === copy)
  const offered = pinsText(offer)
  const record = nextRecord(view)
  if (!isInPlace || offered !== (view.offered ?? '') || record.isNew)
    return { kind: 'pin', pins: isInPlace ? null : pinsText(target), offered, recorded: record.uids }
  const rolledBack = objects.filter((object) => wanted.get(pinKey(object)) !== present.get(pinKey(object)))
  const absent = objects.filter((object) => !wanted.has(pinKey(object)) && isAbsent(view, object))
  const inPlace = { rolledBack, ...(absent.length > 0 && { absent }) }
  const collection = collectionOf(view)
  return collection === null ? { kind: 'none', ...inPlace } : { kind: 'collect', ...inPlace, collection }
}

/** Whether the template names a copy of everything that it reads: its pods do not depend on later content. */
export function isPinned(view: PinView): boolean {
  const present = pinsOf(view.template)
  return objectsOf(view).every((object) => isAbsent(view, object) || keptName(view, present, pinKey(object)) !== undefined)
}

function isAbsent({ sources }: PinView, object: ConfigObject): boolean {
  return sources.get(pinKey(object))?.kind === 'absent'
}

/** Null if there is nothing to collect. */
function collectionOf(view: PinView): Collection | null {
  const garbage = garbageOf(view)
  const named = view.isObserved ? view.copies.filter((copy) => copy.isUnused && !garbage.includes(copy)) : []
  const unused = garbage.filter(({ isUnused }) => !isUnused)
  const marked = garbage.filter(({ isUnused }) => isUnused)
  return named.length + garbage.length === 0 ? null : { named, unused, marked }
}

/**
 * Copies that no template, revision, pod or offer names. None while the DaemonSet controller has yet to observe the template: it may make a
 * revision, and pods, of an earlier one.
 */
export function garbageOf(view: PinView): readonly ExistingCopy[] {
  if (!view.isObserved) return []
  const wanted = wantedPins(view, objectsOf(view))
  const naming = [...[view.template, ...view.revisions, ...view.pods].map(pinsOf), wanted, parsePins(view.offered)]
  const named = new Set(naming.flatMap((pins) => [...pins].map(([key, copy]) => `${kindOfPin(key)}/${copy}`)))
  return view.copies.filter((copy) => !named.has(pinKey(copy)))
}

function objectsOf({ template, kinds }: PinView): readonly ConfigObject[] {
  return pinnedObjects(template).filter(({ kind }) => kinds.includes(kind))
}

/** Copies of the present objects. An object that is gone has its present copy, if that exists. */
function wantedPins(view: PinView, objects: readonly ConfigObject[]): Pins {
  const present = pinsOf(view.template)
  return new Map(
    objects.flatMap((object) => {
      const key = pinKey(object)
      const found = view.sources.get(key)
      const name = found?.kind === 'found' ? nameFor(view, found.source) : keptName(view, present, key)
      return name === undefined ? [] : [[key, name] as const]
    }),
  )
}

/**
 * The copy that holds the content already, or a new name. Only a copy that the template or the offer names counts. Any client may create an
 * object that looks like a copy, but only a client that may change the DaemonSet can name one.
 */
function nameFor(view: PinView, source: ConfigSource): string {
  const alike = namedCopies(view, source).find(({ content }) => content !== undefined && isSameContent(content, source))
  return alike?.name ?? freeName(source, view.owner, view.taken).name
}

function createPlan({ owner, taken }: PinView, source: ConfigSource): PinPlan {
  return { kind: 'createCopy', copy: toCopy(source, owner, freeName(source, owner, taken).salt) }
}

/** Copies of an object that the template or the last offer names. */
export function namedCopies(
  { template, offered, copies }: Pick<PinView, 'template' | 'offered' | 'copies'>,
  object: ConfigObject,
): readonly ExistingCopy[] {
  const names = [pinsOf(template), parsePins(offered)].map((pins) => pins.get(pinKey(object)))
  return [...new Set(names)].flatMap((name) => copies.find((copy) => copy.kind === object.kind && copy.name === name) ?? [])
}

/**
 * Copies that count as offered after this plan. An object that is gone keeps its last offer: it may come back with a content that was rolled
 * back.
 */
function offerOf({ offered, sources }: PinView, wanted: Pins): Pins {
  const before = parsePins(offered)
  const isGone = (key: string): boolean => sources.get(key)?.kind !== 'found'
  return new Map([...wanted].map(([key, copy]) => [key, (isGone(key) ? before.get(key) : undefined) ?? copy]))
}

/** Whether an object that was offered has another content, which no release has offered yet. */
function isNews({ offered }: PinView, offer: Pins): boolean {
  const before = parsePins(offered)
  return [...offer].some(([key, copy]) => before.has(key) && before.get(key) !== copy)
}

/** Name of the copy that the present template names, if that copy exists. */
function keptName(view: PinView, present: Pins, key: string): string | undefined {
  const name = present.get(key)
  return name === undefined || copyOf(view, key, name) === undefined ? undefined : name
}

function copyOf({ copies }: PinView, key: string, name: string): ExistingCopy | undefined {
  return copies.find((copy) => copy.kind === kindOfPin(key) && copy.name === name)
}

/** Texts that a message lists. */
const MOST_LISTED = 3

function listText(texts: readonly string[]): string {
  const more = texts.length - MOST_LISTED
  return `${texts.slice(0, MOST_LISTED).join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

function tooManyText(objects: number): string {
  return `the template names ${objects} objects of config, and at most ${MOST_OBJECTS} can be read: use fewer, or name some by a hash`
}

function unreadText({ sources }: PinView, object: ConfigObject): readonly string[] {
  const reading = sources.get(pinKey(object))
  if (reading === undefined) return [`${object.kind} ${object.name} is not read yet`]
  return reading.kind === 'unread' ? [`${object.kind} ${object.name} cannot be read: ${reading.why}`] : []
}

function beyondPlan({ template }: PinView, wanted: Pins): PinPlan | null {
  const spec = (template as { readonly spec?: unknown } | null)?.spec
  const field = fieldBeyondLimits(spec, wanted)
  const places = placesBeyondWork(spec, wanted)
  if (field === null && places === null) return null
  const message =
    field === null
      ? `${places} fields name config, too many for the ${wanted.size} copies that can be named there: use fewer objects, or name some by a hash`
      : `${field} names config at a place in which no copy can be named: move it to the front of its list, or name the object by a hash`
  return { kind: 'wait', reason: 'BeyondLimits', message }
}

/** Type of Secrets whose content the cluster writes, for the ServiceAccount that one names. */
const TOKEN_TYPE = 'kubernetes.io/service-account-token'

function uncopyableText({ sources }: PinView, object: ConfigObject): readonly string[] {
  const reading = sources.get(pinKey(object))
  if (reading?.kind !== 'found' || reading.source.type !== TOKEN_TYPE) return []
  return [
    `Secret ${object.name} has the type ${TOKEN_TYPE}, which cannot be copied: mount a projected serviceAccountToken in its place, or remove config: Pin from the ReleasePolicy`,
  ]
}
