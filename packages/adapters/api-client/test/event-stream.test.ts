import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventParser, type ServerEvent } from '../src/event-stream.ts'

function read(...chunks: readonly string[]): readonly ServerEvent[] {
  const parser = createEventParser()
  return chunks.flatMap((chunk) => parser.push(chunk))
}

describe('createEventParser', () => {
  it.each([
    { title: 'one event', text: 'id: 7\ndata: {"a":1}\n\n', want: [{ data: '{"a":1}', id: '7', isMark: true, retryMs: null }] },
    { title: 'no event from a heartbeat', text: ': still here\n\n', want: [] },
    {
      title: 'an id in a heartbeat without a mark',
      text: 'id: 1\n: beat\n\ndata: a\n\n',
      want: [{ data: 'a', id: '1', isMark: false, retryMs: null }],
    },
    { title: 'no unfinished event', text: 'data: 1\n', want: [] },
    {
      title: 'several lines of data as one text',
      text: 'data: a\ndata: b\n\n',
      want: [{ data: 'a\nb', id: '', isMark: false, retryMs: null }],
    },
    { title: 'CRLF line ends', text: 'data: a\r\n\r\n', want: [{ data: 'a', id: '', isMark: false, retryMs: null }] },
    { title: 'a field without a space', text: 'data:a\n\n', want: [{ data: 'a', id: '', isMark: false, retryMs: null }] },
    {
      title: 'an id for later events',
      text: 'id: 1\ndata: a\n\ndata: b\n\n',
      want: [
        { data: 'a', id: '1', isMark: true, retryMs: null },
        { data: 'b', id: '1', isMark: false, retryMs: null },
      ],
    },
    {
      title: 'the reconnect delay',
      text: 'retry: 50\ndata: a\n\ndata: b\n\n',
      want: [
        { data: 'a', id: '', isMark: false, retryMs: 50 },
        { data: 'b', id: '', isMark: false, retryMs: null },
      ],
    },
    { title: 'no id with a NUL in it', text: 'id: a\0b\ndata: a\n\n', want: [{ data: 'a', id: '', isMark: false, retryMs: null }] },
  ])('reads $title', ({ text, want }) => {
    expect(read(text)).toEqual(want)
  })

  it('reads the same events for any chunking', () => {
    const line = fc.constantFrom('data: x', 'data:', 'id: 3', ': beat', 'retry: 9', '', 'event: ping', 'data: a:b')
    const ends = fc.constantFrom('\n', '\r\n', '\r')
    fc.assert(
      fc.property(fc.array(line), ends, fc.array(fc.nat(60), { maxLength: 6 }), (lines, end, cuts) => {
        const text = `${[...lines, '', 'data: end', '', ''].join(end)}`
        const at = [0, ...[...new Set(cuts)].filter((cut) => cut < text.length).sort((a, b) => a - b), text.length]
        const chunks = at.slice(1).map((to, index) => text.slice(at[index], to))
        // A lone CR at the very end may yet be half of a CRLF.
        expect(read(...chunks, 'data: after\n\n')).toEqual(read(`${text}data: after\n\n`))
      }),
      { numRuns: 300 },
    )
  })

  it.each([{ part: 'x'.repeat(1_000_000) }, { part: `data: ${'x'.repeat(1_000_000)}\n` }])(
    'gives up on an event that never ends',
    ({ part }) => {
      const parser = createEventParser()
      expect(() => {
        for (let round = 0; round < 6; round += 1) parser.push(part)
      }).toThrow('longer than')
    },
  )
})
