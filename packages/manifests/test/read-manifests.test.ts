import { readManifests } from '@tranche/manifests'
import { describe, expect, it } from 'vitest'

const value = (of: unknown) => ({ kind: 'value', value: of })
const unreadable = (why: string) => ({ kind: 'unreadable', why: expect.stringContaining(why) as unknown })

describe('a text of manifests', () => {
  it.each([
    [
      'is its documents, with number and line',
      'a: 1\n---\nb: 2\n',
      [
        { index: 1, line: 1, content: value({ a: 1 }) },
        { index: 2, line: 3, content: value({ b: 2 }) },
      ],
    ],
    ['leaves empty documents out, and counts them', '---\n# nothing\n---\nb: 2\n', [{ index: 2, line: 4, content: value({ b: 2 }) }]],
    ['may be JSON', '{"a": [1]}', [{ index: 1, line: 1, content: value({ a: [1] }) }]],
    [
      'has the items of a List stand for themselves',
      'kind: List\nitems: [{a: 1}, {b: 2}]',
      [
        { index: 1, line: 1, content: value({ a: 1 }) },
        { index: 1, line: 1, content: value({ b: 2 }) },
      ],
    ],
    [
      'follows anchors and merge keys, of which there may be two',
      'x: &x {a: 1}\ny: &y {b: 2}\nz:\n  <<: *x\n  <<: *y\n',
      [{ index: 1, line: 1, content: value({ x: { a: 1 }, y: { b: 2 }, z: { a: 1, b: 2 } }) }],
    ],
    ['tells the line at which it is no YAML', 'a: 1\nb: c: d\n', [{ index: 1, line: 2, content: unreadable('Nested mappings') }]],
    [
      'tells the line of a key that stands twice',
      'a: 1\nspec:\n  b: 1\n  b: 2\n',
      [{ index: 1, line: 4, content: unreadable('Map keys must be unique; "b" stands twice') }],
    ],
    [
      'goes on behind a document that cannot be read',
      'a: b: c\n---\nd: 1\n',
      [
        { index: 1, line: 1, content: unreadable('Nested') },
        { index: 2, line: 3, content: value({ d: 1 }) },
      ],
    ],
    ['is nothing where nothing stands', '', []],
    ['holds objects: a text is none', 'hello', [{ index: 1, line: 1, content: unreadable('it holds "hello", and not an object') }]],
    ['holds objects: a list is none', '- a: 1', [{ index: 1, line: 1, content: unreadable('it holds a list') }]],
    [
      'holds objects, in a List too',
      'kind: List\nitems: [{a: 1}, 3]',
      [
        { index: 1, line: 1, content: value({ a: 1 }) },
        { index: 1, line: 1, content: unreadable('it holds 3') },
      ],
    ],
  ])('%s', (_what, text, documents) => {
    expect(readManifests(text)).toEqual(documents)
  })

  it('takes time by its length, not by its square', () => {
    // A look that compares each key with all others would not end within the time of a test.
    const text = Array.from({ length: 60_000 }, (_, at) => `m${at}: ${at}`).join('\n')
    expect(readManifests(text)).toMatchObject([{ content: { kind: 'value', value: { m59999: 59_999 } } }])
  })
})
