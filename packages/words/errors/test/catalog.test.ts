import { readFileSync } from 'node:fs'
import { errorCatalog } from '@tranche/errors'
import { describe, expect, it } from 'vitest'

const page = readFileSync(new URL('../../../../docs/reference/error-codes.md', import.meta.url), 'utf8')
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section.slice(section.indexOf('\n'))] as const),
)

describe('error catalog', () => {
  it('has one section in docs/reference/error-codes.md for every code, in the same order, and no section without a code', () => {
    expect([...sections.keys()]).toEqual(Object.keys(errorCatalog))
  })

  it.each(Object.entries(errorCatalog))(
    '%s is described with its summary, its remedy, its HTTP status, when and what to do',
    (code, entry) => {
      const section = sections.get(code) ?? ''
      expect(section).toContain(entry.summary)
      expect(section).toContain(`Remedy \`${entry.remedy}\` · HTTP ${entry.httpStatus}`)
      expect(section).toMatch(/^\*\*When\.\*\* \S/m)
      expect(section).toMatch(/^\*\*What to do\.\*\* \S/m)
    },
  )

  it.each(Object.entries(errorCatalog))('%s states its summary as one sentence', (_code, { summary }) => {
    expect(summary).toMatch(/^[A-Z][^\n]*\.$/)
    expect(summary).not.toMatch(/\. [A-Z]/)
  })

  it.each(Object.entries(errorCatalog))('%s answers over HTTP with an error status', (_code, { httpStatus }) => {
    expect(httpStatus).toBeGreaterThanOrEqual(400)
    expect(httpStatus).toBeLessThan(600)
  })
})
