import { kindOfPin, parsePins } from './pins.ts'
import { pinsOf } from './pinned-objects.ts'
import type { ExistingCopy, PinView } from './pin-view.ts'

/**
 * Annotation on a DaemonSet: uids of the copies whose content was compared, oldest first. Only the API server gives uids, and a copy is immutable, so
 * an object that replaces a copy under its name is found out. A uid says nothing about the content.
 */
export const RECORDED_COPIES_ANNOTATION = 'tranche.dev/recorded-copies'

/** Number of recorded copies that nothing names: a namespace may lose its right to Secrets for a time. */
const MOST_UNNAMED = 64

/** @returns the uids in the annotation; undefined without it: no copy was compared yet, or a user removed the record */
export function parseRecorded(text: string | undefined): ReadonlySet<string> | undefined {
  return text === undefined ? undefined : new Set(text.split(',').filter((uid) => uid !== ''))
}

/** @returns the value of the annotation */
export function recordedText(uids: Iterable<string>): string {
  return [...new Set(uids)].join(',')
}

/** Copies that a template, a revision or the last offer names, as `ConfigMap/agent-1`, with the keys of the objects whose copies they are. */
export function copiesNamed({
  template,
  offered,
  revisions,
}: Pick<PinView, 'template' | 'offered' | 'revisions'>): ReadonlyMap<string, string> {
  const naming = [pinsOf(template), parsePins(offered), ...revisions.map(pinsOf)]
  return new Map(naming.flatMap((pins) => [...pins].map(([key, copy]) => [`${kindOfPin(key)}/${copy}`, key] as const)))
}

/** The record of the next write. */
export interface NextRecord {
  readonly uids: readonly string[]
  /** Whether a copy that something names is not recorded yet. */
  readonly isNew: boolean
}

/** The copies of a view were compared before, where something names them. One that was just created has no uid yet. */
export function nextRecord(view: PinView): NextRecord {
  const names = copiesNamed(view)
  const isNamed = ({ kind, name, uid }: ExistingCopy): boolean => uid !== '' && names.has(`${kind}/${name}`)
  const named = view.copies.filter(isNamed).map(({ uid }) => uid)
  const others = [...(view.recorded ?? [])].filter((uid) => !named.includes(uid))
  return { uids: [...others.slice(-MOST_UNNAMED), ...named], isNew: named.some((uid) => view.recorded?.has(uid) !== true) }
}
