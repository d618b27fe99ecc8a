import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { withoutDescriptions } from '../../scripts/host-plugins/without-descriptions.ts'
import { withoutSummaries } from '../../scripts/host-plugins/without-summaries.ts'

describe('a module of schemas without its descriptions', () => {
  it.each<[sentence: string, code: string, rest: string]>([
    ['keeps the schema', "z.string().meta({ description: 'A name.' }).optional()", 'z.string().optional()'],
    ['loses every description', "a.meta({ id: 'A' }), b.meta({ id: 'B' })", 'a, b'],
    ['reads no parenthesis in a text', "a.meta({ description: 'First (of two).)' }).min(1)", 'a.min(1)'],
    ['reads no quote in a text of another kind', `a.meta({ description: "its ' quote)" })`, 'a'],
    ['reads an escaped quote', "a.meta({ description: 'it\\'s )' })", 'a'],
    ['reads calls inside of a description', 'a.meta({ description: textOf(b(c)) })', 'a'],
    ['without descriptions is the same', 'z.object({ a: z.string() })', 'z.object({ a: z.string() })'],
  ])('%s', (_sentence, code, rest) => {
    expect(withoutDescriptions(code)).toBe(rest)
  })

  it('fails where a call does not end', () => {
    expect(() => withoutDescriptions("a.meta({ description: 'never' }")).toThrow('does not end')
  })

  it('is found in the schemas of Tranche, and leaves none', () => {
    const folder = 'packages/words/api-schema/src'
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
    const codes = files.map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
    expect(codes.filter((code) => code.includes('.meta(')).length).toBeGreaterThan(5)
    expect(codes.map(withoutDescriptions).filter((code) => code.includes('.meta('))).toEqual([])
  })
})

describe('the error catalog without its summaries', () => {
  it.each([
    ["{ httpStatus: 404, summary: 'The DaemonSet is gone.' }", "{ httpStatus: 404, summary: '' }"],
    ["{\n  summary:\n    'A long one.',\n}", "{\n  summary: '',\n}"],
    [`{ summary: "its ' quote" }`, "{ summary: '' }"],
    ["{ summary: 'it\\'s gone', a: 1 }", "{ summary: '', a: 1 }"],
    ['readonly summary: string', 'readonly summary: string'],
  ])('%j becomes %j', (code, rest) => {
    expect(withoutSummaries(code)).toBe(rest)
  })

  it('has every code of the catalog, and no summary', () => {
    const catalog = readFileSync('packages/words/errors/src/catalog.ts', 'utf8')
    const code = withoutSummaries(catalog)
    const codesIn = (text: string): readonly string[] => text.match(/^ {2}[A-Z_]+: \{/gm) ?? []
    expect(codesIn(catalog).length).toBeGreaterThan(40)
    expect(codesIn(code)).toEqual(codesIn(catalog))
    expect(code.match(/summary: '(?!')/g)).toBeNull()
  })
})
