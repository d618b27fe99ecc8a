import { describe, expect, it } from 'vitest'
import { type MarkedMoment, markedMomentOf, markText, nearestEntries, utcText } from '../src/format/marked-moment.ts'
import { momentText } from '../src/format/moment.ts'

const at = '2026-11-25T10:00:00Z'
const atMs = Date.parse(at)
const moment: MarkedMoment = { kind: 'moment', text: at, atMs }

describe('the moment in the address of a page', () => {
  it.each<[string, string | undefined, MarkedMoment]>([
    ['in UTC', at, moment],
    ['with milliseconds', '2026-11-25T10:00:00.250Z', { kind: 'moment', text: '2026-11-25T10:00:00.250Z', atMs: atMs + 250 }],
    ['with an offset', '2026-11-25T12:00:00+02:00', { kind: 'moment', text: '2026-11-25T12:00:00+02:00', atMs }],
    [
      'with an offset whose plus a URL shows as a space',
      '2026-11-25T12:00:00 02:00',
      { kind: 'moment', text: '2026-11-25T12:00:00 02:00', atMs },
    ],
    ['without seconds', '2026-11-25T10:00Z', { kind: 'moment', text: '2026-11-25T10:00Z', atMs }],
    ['that is absent', undefined, { kind: 'none' }],
    ['that is empty', '', { kind: 'none' }],
    ['without a zone', '2026-11-25T10:00:00', { kind: 'bad', text: '2026-11-25T10:00:00' }],
    ['that is only a date', '2026-11-25', { kind: 'bad', text: '2026-11-25' }],
    ['that does not exist', '2026-13-45T10:00:00Z', { kind: 'bad', text: '2026-13-45T10:00:00Z' }],
    ['that is a number', '1764064800', { kind: 'bad', text: '1764064800' }],
    ['that is markup', '<img src=x>', { kind: 'bad', text: '<img src=x>' }],
  ])('%s is read', (_title, text, want) => {
    expect(markedMomentOf(text)).toEqual(want)
  })

  it.each([
    ['2026-11-25T11:00:00+01:00', at],
    ['2026-11-25T10:00:00.120Z', '2026-11-25T10:00:00.120Z'],
    ['never', undefined],
    [undefined, undefined],
  ])('of %s is %s', (written, want) => {
    expect(utcText(written)).toBe(want)
  })
})

describe('the entries nearest to a moment', () => {
  const entry = (name: string, seconds: number | null) => ({
    name,
    at: seconds === null ? undefined : new Date(atMs + seconds * 1_000).toISOString(),
  })
  it.each<[string, readonly ReturnType<typeof entry>[], readonly string[]]>([
    ['is the one at that time', [entry('later', 5), entry('same', 0), entry('earlier', -1)], ['same']],
    ['is one before it', [entry('later', 5), entry('earlier', -4)], ['earlier']],
    ['is one after it', [entry('later', 5), entry('earlier', -6)], ['later']],
    ['are all of the same time', [entry('a', 2), entry('b', 2), entry('c', 9)], ['a', 'b']],
    ['is the first of two that are as near', [entry('later', 5), entry('earlier', -5)], ['later']],
    ['is none without a time', [entry('unknown', null)], []],
    ['ignores those without a time', [entry('unknown', null), entry('far', 9_000)], ['far']],
    ['is none of none', [], []],
  ])('%s', (_title, entries, names) => {
    expect(nearestEntries(entries, moment).map(({ name }) => name)).toEqual(names)
  })

  it('are none for a moment that is none', () => {
    expect(nearestEntries([entry('a', 0)], { kind: 'bad', text: 'x' })).toEqual([])
  })
})

describe('the note about a mark', () => {
  const asked = momentText(new Date(atMs).toISOString())
  it.each<[string, MarkedMoment, readonly { readonly at?: string }[], string]>([
    ['is empty without one', { kind: 'none' }, [{ at }], ''],
    ['has the time', moment, [{ at }], `Marked is what is nearest to ${asked}.`],
    ['says how far an entry is', moment, [{ at: '2026-11-25T10:03:05Z' }], `Marked is what is nearest to ${asked}, 3m 05s after that.`],
    [
      'says how far an earlier entry is',
      moment,
      [{ at: '2026-11-25T09:59:59Z' }],
      `Marked is what is nearest to ${asked}, 1s before that.`,
    ],
    ['says that there is none', moment, [], `Nothing here has a time that could be nearest to ${asked}.`],
    [
      'shows a bad value as text, cut',
      { kind: 'bad', text: `<b>${'x'.repeat(100)}` },
      [],
      `The address of this page has no valid time after "at=": "<b>${'x'.repeat(37)}…". A time looks like 2026-11-25T10:00:00Z.`,
    ],
  ])('%s', (_title, marked, entries, want) => {
    expect(markText(marked, entries)).toBe(want)
  })
})
