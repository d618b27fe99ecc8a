import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { quotedIn, readScenarioNames, rowsOf } from './test-names.ts'

const rows = rowsOf(readFileSync('docs/contribute/openkruise-faults.md', 'utf8')).map((cells) => ({
  ids: (cells[0] ?? '').split(', '),
  tests: quotedIn(cells.at(-1) ?? ''),
}))
const tests = readScenarioNames()

/** Faults of a part that Tranche does not have. */
const withoutTest = ['W23']
const ids = [...numbered('X', 22), ...numbered('W', 27)].filter((id) => !withoutTest.includes(id))

describe('docs/contribute/openkruise-faults.md', () => {
  it.each(ids)("names a test that shows Tranche's behavior for %s", (id) => {
    const shown = rows.filter((row) => row.ids.includes(id)).flatMap((row) => row.tests)
    expect(shown.filter((name) => idsIn(name).includes(id))).not.toEqual([])
  })

  it('names only existing tests, each in a row with one of its ids', () => {
    const wrong = rows.flatMap((row) =>
      row.tests.filter((name) => !tests.some((test) => test.name === name) || !idsIn(name).some((id) => row.ids.includes(id))),
    )
    expect(wrong).toEqual([])
  })

  it('names every test of a fault of OpenKruise', () => {
    const named = new Set(rows.flatMap((row) => row.tests))
    expect(tests.filter(({ name }) => idsIn(name).length > 0 && !named.has(name))).toEqual([])
  })
})

function idsIn(name: string): readonly string[] {
  const last = /\(([^()]*)\)$/.exec(name)?.[1] ?? ''
  return last.split(', ').filter((id) => /^[XW]\d+$/.test(id))
}

function numbered(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${kind}${at + 1}`)
}
