import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { quotedIn, readScenarioNames, rowsOf } from './test-names.ts'

const rows = rowsOf(readFileSync('docs/contribute/scenarios.md', 'utf8'))
const tests = readScenarioNames()

describe('docs/contribute/scenarios.md', () => {
  it.each(rows)('%s: names an existing test, with its file', (situation, file = '', name = '') => {
    expect(situation).not.toBe('')
    const inFile = tests.filter((test) => test.file === `test/scenarios/${quotedIn(file).join()}`)
    expect(inFile.map((test) => test.name)).toContain(quotedIn(name).join())
  })

  it('names each situation once', () => {
    const situations = rows.map(([situation]) => situation)
    expect(situations.filter((situation, at) => situations.indexOf(situation) !== at)).toEqual([])
    expect(situations.length).toBeGreaterThan(40)
  })
})
