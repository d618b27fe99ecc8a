import { resourcePaths } from '@tranche/kube-client'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clientOver, failure } from './canned-client.ts'
import { answerPieces } from './fake-api-server.ts'

const metadata = { resourceVersion: '9' }
// After an object with a name that ends with a backslash, the parser of Node.js 24 reads the name `"` as a backslash, in any text.
const name = fc.string().map((text) => text.replace(/\\+$/, ''))
const item = fc.dictionary(fc.oneof(name, fc.constantFrom('items', 'metadata', '"items":[', '\\a')), fc.jsonValue({ maxDepth: 3 }))
const around = fc.dictionary(
  name.filter((text) => !['items', 'metadata', '__proto__'].includes(text)),
  fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('items', { items: [{}, 'a'] }, [{ items: [] }])),
)

describe('a list', () => {
  it('reads the same for any chunking, whatever its items contain', async () => {
    const given = fc.record({
      items: fc.array(item, { maxLength: 6 }),
      before: around,
      after: around,
      indent: fc.constantFrom(0, 2),
      cuts: fc.array(fc.nat(400), { maxLength: 20 }),
    })
    await fc.assert(
      fc.asyncProperty(given, async ({ items, before, after, indent, cuts }) => {
        const text = JSON.stringify({ ...before, metadata, items, ...after }, null, indent)
        const { client } = clientOver([answerPieces(200, cutAt(text, cuts))])
        expect(await client.list(resourcePaths.pods)).toEqual({ items: JSON.parse(JSON.stringify(items)), resourceVersion: '9' })
      }),
      { numRuns: 200 },
    )
  })

  it.each([
    ['none', '{"metadata":{"resourceVersion":"9"}}'],
    ['null', '{"items":null,"metadata":{"resourceVersion":"9"}}'],
    ['an empty array', '{"items":[],"metadata":{"resourceVersion":"9"}}'],
  ])('may have %s for items', async (_name, text) => {
    const { client } = clientOver([answerPieces(200, Array.from(text))])
    expect(await client.list(resourcePaths.pods)).toEqual({ items: [], resourceVersion: '9' })
  })

  it('has no items if the field is an object, and no version if the answer has none', async () => {
    const { client } = clientOver([answerPieces(200, ['{"items":{"a":{"b":[{}]}}}'])])
    expect(await client.list(resourcePaths.pods)).toEqual({ items: [], resourceVersion: '' })
  })

  it.each([
    ['an escaped letter', ['"x\\', 'n"'], 'x\n'],
    ['an escaped quote before the last one', ['"x\\', '""'], 'x"'],
    ['an escaped backslash', ['"x\\', '\\"'], 'x\\'],
  ])('may be cut within %s', async (_what, [begin, end], want) => {
    const { client } = clientOver([answerPieces(200, [`{"items":[{"a":${begin}`, `${end}},{"a":1}]}`])])
    expect((await client.list(resourcePaths.pods)).items).toEqual([{ a: want }, { a: 1 }])
  })

  it('reports the text length of each kept object', async () => {
    const lengths: number[] = []
    const { client } = clientOver([answerPieces(200, ['{"items":[{"n":1},{"n":22},{"n":333}]}'])])
    const transform = (object: object): object | null => ('n' in object && object.n === 22 ? null : object)
    await client.list(resourcePaths.pods, { transform, onKept: (length) => lengths.push(length) })
    expect(lengths).toEqual([7, 9])
  })

  it.each([
    ['breaks off in an item', '{"metadata":{},"items":[{"a":1},{"b"'],
    ['breaks off after an item', '{"metadata":{},"items":[{"a":1}'],
    ['has an item that is none', '{"metadata":{},"items":[{"a":1},{b}]}'],
    ['is a page of a proxy', '<html><body>[502]</body></html>'],
  ])('is refused where it %s', async (_name, text) => {
    const { client } = clientOver([answerPieces(200, [text])])
    expect(await failure(client.list(resourcePaths.pods))).toMatchObject({ code: 'API_REFUSED' })
  })

  it('restarts when the connection breaks midway, and keeps nothing twice', async () => {
    async function* broken(): AsyncGenerator<string> {
      yield '{"metadata":{},"items":[{"n":1},{"n":2},'
      throw new Error('read ECONNRESET')
    }
    const whole = '{"metadata":{"resourceVersion":"9"},"items":[{"n":1},{"n":2},{"n":3}]}'
    const { client, clock } = clientOver([{ status: 200, headers: {}, body: broken() }, answerPieces(200, [whole])])
    const listing = client.list(resourcePaths.pods)
    await clock.advanceAsync(1_000)
    expect((await listing).items).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  it('fails with the error of transform, and does not try again', async () => {
    const { client, requests } = clientOver([answerPieces(200, ['{"metadata":{},"items":[{"n":1}]}'])])
    const fault = new Error('our own')
    const transform = (): never => {
      throw fault
    }
    expect(await failure(client.list(resourcePaths.pods, { transform }))).toBe(fault)
    expect(requests).toHaveLength(1)
  })

  it('does not parse objects without the mark', async () => {
    const text = '{"metadata":{"resourceVersion":"9"},"items":[{"kind":"ours"},{not JSON at all},{"kind":"ours","n":2}]}'
    const { client } = clientOver([answerPieces(200, [text])])
    expect((await client.list(resourcePaths.pods, { mark: 'ours' })).items).toEqual([{ kind: 'ours' }, { kind: 'ours', n: 2 }])
  })
})

function cutAt(text: string, cuts: readonly number[]): readonly string[] {
  const sorted = [0, ...cuts.filter((at) => at < text.length).toSorted((a, b) => a - b), text.length]
  return sorted.slice(1).map((end, index) => text.slice(sorted[index], end))
}
