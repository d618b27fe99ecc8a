import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { evidenceFor, guaranteeIds, readCitations, writtenPage } from '../../scripts/guarantees.ts'

const citations = readCitations()

describe('every guarantee and every rule of the fence', () => {
  it.each(guaranteeIds)('%s has code, a property and a scenario', (id) => {
    const { code, properties, scenarios } = evidenceFor(id, citations)
    expect({ code: code.length > 0, properties: properties.length > 0, scenarios: scenarios.length > 0 }).toEqual({
      code: true,
      properties: true,
      scenarios: true,
    })
  })

  it('exists if code or a test cites it', () => {
    const unknown = [...citations.code, ...citations.tests].flatMap(({ file, name, ids }) =>
      ids.filter((id) => !guaranteeIds.includes(id)).map((id) => `${file}: ${name}: ${id}`),
    )
    expect(unknown).toEqual([])
  })
})

describe('docs/contribute/evidence.md', () => {
  const text = readFileSync('docs/contribute/evidence.md', 'utf8')

  it('has one section for each, in order, with its list', () => {
    expect([...text.matchAll(/^### ([GF]\d+) /gm)].map((match) => match[1])).toEqual(guaranteeIds)
    expect([...text.matchAll(/^<!-- evidence of ([GF]\d+) -->$/gm)].map((match) => match[1])).toEqual(guaranteeIds)
  })

  it('names the existing code and tests; if not, run pnpm generate', () => {
    expect(text).toBe(writtenPage().text)
  })
})
