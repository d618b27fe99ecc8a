import { timeSpanText } from './duration.ts'
import { momentText } from './moment.ts'

/** Moment that a link asks to mark, in its query `at`. */
export type MarkedMoment =
  | { readonly kind: 'none' }
  /** The text is no moment. */
  | { readonly kind: 'bad'; readonly text: string }
  | { readonly kind: 'moment'; readonly text: string; readonly atMs: number }

/** Something that happened at a known time, or at an unknown one. */
interface Dated {
  /** RFC 3339. */
  readonly at?: string | undefined
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i
/** Most characters of a bad value that are shown. */
const MOST_SHOWN = 40

/** @param text value of the query `at`. A `+` that a URL does not escape is read as a space; it counts as `+`. */
export function markedMomentOf(text: string | undefined): MarkedMoment {
  if (text === undefined || text === '') return { kind: 'none' }
  const written = text.replace(' ', '+')
  const atMs = RFC_3339.test(written) ? Date.parse(written) : Number.NaN
  return Number.isNaN(atMs) ? { kind: 'bad', text } : { kind: 'moment', text, atMs }
}

/** @param at RFC 3339. @returns the same moment in UTC, for a URL: `2026-11-25T10:00:00Z`; undefined if it is no moment */
export function utcText(at: string | undefined): string | undefined {
  const ms = Date.parse(at ?? '')
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().replace('.000Z', 'Z')
}

/** @returns the entries nearest to a moment: more than one if they have the same time; none without a known time */
export function nearestEntries<T extends Dated>(entries: readonly T[], moment: MarkedMoment): readonly T[] {
  if (moment.kind !== 'moment') return []
  const distance = ({ at }: T): number => Math.abs(Date.parse(at ?? '') - moment.atMs)
  const dated = entries.filter((entry) => !Number.isNaN(distance(entry)))
  const [first] = dated.toSorted((a, b) => distance(a) - distance(b))
  return first === undefined ? [] : dated.filter(({ at }) => Date.parse(at!) === Date.parse(first.at!))
}

/** @returns what the link of the page marks, as sentences; empty without a mark */
export function markText(moment: MarkedMoment, [nearest]: readonly Dated[]): string {
  if (moment.kind === 'none') return ''
  if (moment.kind === 'bad') {
    const shown = moment.text.length > MOST_SHOWN ? `${moment.text.slice(0, MOST_SHOWN)}…` : moment.text
    return `The address of this page has no valid time after "at=": ${JSON.stringify(shown)}. A time looks like 2026-11-25T10:00:00Z.`
  }
  const asked = momentText(new Date(moment.atMs).toISOString())
  if (nearest?.at === undefined) return `Nothing here has a time that could be nearest to ${asked}.`
  const offMs = Date.parse(nearest.at) - moment.atMs
  const off = Math.abs(offMs) < 1_000 ? '' : `, ${timeSpanText(Math.abs(offMs))} ${offMs < 0 ? 'before' : 'after'} that`
  return `Marked is what is nearest to ${asked}${off}.`
}
