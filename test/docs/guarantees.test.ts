import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { evidenceFor, guaranteeIds, readCitations, writtenPage } from '../../scripts/guarantees.ts'

const citations = readCitations()

describe('every guarantee and every rule of the fence', () => {
  it.each(guaranteeIds)('%s is kept by code that says so, and shown by a property and by a scenario', (id) => {
    const { code, properties, scenarios } = evidenceFor(id, citations)
    expect({ code: code.length > 0, properties: properties.length > 0, scenarios: scenarios.length > 0 }).toEqual({
      code: true,
      properties: true,
      scenarios: true,
    })
  })

  it('that code or a test cites is one that there is', () => {
    const unknown = [...citations.code, ...citations.tests].flatMap(({ file, name, ids }) =>
      ids.filter((id) => !guaranteeIds.includes(id)).map((id) => `${file}: ${name}: ${id}`),
    )
    expect(unknown).toEqual([])
  })
})

describe('docs/guarantees.md', () => {
  const text = readFileSync('docs/guarantees.md', 'utf8')

  it('has one section for each, in order, with its list', () => {
    expect([...text.matchAll(/^### ([GF]\d+) /gm)].map((match) => match[1])).toEqual(guaranteeIds)
    expect([...text.matchAll(/^<!-- evidence of ([GF]\d+) -->$/gm)].map((match) => match[1])).toEqual(guaranteeIds)
  })

  it('names the code and the tests that there are; where it does not, run pnpm generate', () => {
    expect(text).toBe(writtenPage().text)
  })
})
