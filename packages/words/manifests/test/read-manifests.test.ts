import { readManifests } from '@tranche/manifests'
import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../test/fakes/cpu-ms.ts'

const value = (of: unknown) => ({ kind: 'value', value: of })
const unreadable = (why: string) => ({ kind: 'unreadable', why: expect.stringContaining(why) as unknown })

const keys = (count: number): string => `{${Array.from({ length: count }, (_, at) => `k${at}: x`).join(',')}}`

describe('a text that expands to much more than its size', () => {
  it.each([
    ['lists of lists', `a0: &a0 [x]\n${range(9, (at) => `a${at + 1}: &a${at + 1} [${range(9, () => `*a${at}`, ', ')}]`)}`, 'repeat more'],
    ['one large list', `a: &a [${'x,'.repeat(20_000)}x]\nb: [${range(99, () => '*a', ', ')}]`, 'repeat more than 100000 values, up to *a'],
    ['merged maps', `a: &a ${keys(20_000)}\nb:\n${range(99, () => '- {<<: *a}')}`, 'repeat more than 100000 values'],
    ['a map that is a key', `a: &a ${keys(20_000)}\n${range(99, () => '? *a\n: c')}`, 'repeat more than 100000 values'],
    ['very many aliases', range(20_000, (at) => `a${at}: &a${at} x\nb${at}: *a${at}`), 'it has more than 1000 aliases'],
    ['items of a List', `a: &a {b: [${'x,'.repeat(20_000)}]}\nkind: List\nitems: [${range(95, () => '*a', ', ')}]`, 'repeat more'],
    ['an alias of itself', 'kind: &a {b: [1, *a]}', 'the alias *a is inside its own anchor'],
    ['lists in lists', `a: ${'['.repeat(400)}${']'.repeat(400)}`, 'it is nested more than 200 levels deep'],
    ['unclosed nested lists', '['.repeat(200_000), 'it is nested too deeply'],
    ['nested block lists', `${'- '.repeat(100_000)}a`, 'it is nested too deeply'],
  ])('by %s is rejected before it is expanded', (_what, text, why) => {
    const began = cpuMs()
    expect(readManifests(text)).toEqual([expect.objectContaining({ content: unreadable(why) })])
    // Without limits: 22 s for very many aliases, 6 s for merged maps.
    expect(cpuMs() - began).toBeLessThan(3_000)
  })

  it('by aliases that nest deeper than the text is rejected', () => {
    const nested = (inner: string) => `${'['.repeat(150)}${inner}${']'.repeat(150)}`
    const text = `a: &a ${nested('1')}\nb: &b ${nested('*a')}\nc: ${nested('*b')}`
    expect(readManifests(text)).toMatchObject([{ content: unreadable('it is nested more than 200 levels deep') }])
  })

  it('does not stop the documents after it', () => {
    expect(readManifests('a: &a [*a]\n---\nb: 1\n').map(({ content }) => content.kind)).toEqual(['unreadable', 'value'])
  })

  it('may repeat a template for each of a hundred objects', () => {
    const text = `x: &template ${keys(400)}\nkind: List\nitems:\n${range(100, (at) => `- {name: a${at}, template: *template}`)}`
    expect(readManifests(text).map(({ content }) => content.kind)).toEqual(Array(100).fill('value'))
  })
})

function range(count: number, line: (at: number) => string, between = '\n'): string {
  return Array.from({ length: count }, (_, at) => line(at)).join(between)
}

describe('a text of manifests', () => {
  it.each([
    [
      'is split into documents with number and line',
      'a: 1\n---\nb: 2\n',
      [
        { index: 1, line: 1, content: value({ a: 1 }) },
        { index: 2, line: 3, content: value({ b: 2 }) },
      ],
    ],
    ['leaves out empty documents, but counts them', '---\n# nothing\n---\nb: 2\n', [{ index: 2, line: 4, content: value({ b: 2 }) }]],
    ['may be JSON', '{"a": [1]}', [{ index: 1, line: 1, content: value({ a: [1] }) }]],
    [
      'returns the items of a List instead of the List',
      'kind: List\nitems: [{a: 1}, {b: 2}]',
      [
        { index: 1, line: 1, content: value({ a: 1 }) },
        { index: 1, line: 1, content: value({ b: 2 }) },
      ],
    ],
    [
      'resolves anchors and merge keys, also two of them',
      'x: &x {a: 1}\ny: &y {b: 2}\nz:\n  <<: *x\n  <<: *y\n',
      [{ index: 1, line: 1, content: value({ x: { a: 1 }, y: { b: 2 }, z: { a: 1, b: 2 } }) }],
    ],
    ['reports the line of a YAML error', 'a: 1\nb: c: d\n', [{ index: 1, line: 2, content: unreadable('Nested mappings') }]],
    [
      'reports the line of a duplicate key',
      'a: 1\nspec:\n  b: 1\n  b: 2\n',
      [{ index: 1, line: 4, content: unreadable('Map keys must be unique; "b" is repeated') }],
    ],
    [
      'continues after an unreadable document',
      'a: b: c\n---\nd: 1\n',
      [
        { index: 1, line: 1, content: unreadable('Nested') },
        { index: 2, line: 3, content: value({ d: 1 }) },
      ],
    ],
    ['has no documents if it is empty', '', []],
    [
      'must hold objects: a string is rejected',
      'hello',
      [{ index: 1, line: 1, content: unreadable('it holds "hello", and not an object') }],
    ],
    ['must hold objects: a list is rejected', '- a: 1', [{ index: 1, line: 1, content: unreadable('it holds a list') }]],
    [
      'must hold objects, also in a List',
      'kind: List\nitems: [{a: 1}, 3]',
      [
        { index: 1, line: 1, content: value({ a: 1 }) },
        { index: 1, line: 1, content: unreadable('it holds 3') },
      ],
    ],
  ])('%s', (_what, text, documents) => {
    expect(readManifests(text)).toEqual(documents)
  })

  it('is read in linear time', () => {
    // A check that compares each key with all others would exceed the time of a test.
    const text = Array.from({ length: 60_000 }, (_, at) => `m${at}: ${at}`).join('\n')
    expect(readManifests(text)).toMatchObject([{ content: { kind: 'value', value: { m59999: 59_999 } } }])
  })
})
