import { readdirSync, readFileSync } from 'node:fs'

/** A test or a group of tests in test/scenarios. */
export interface NamedTest {
  /** Path from the root of the repository. */
  readonly file: string
  /** Name as written, with its placeholders. */
  readonly name: string
}

const folder = 'test/scenarios'

/** @returns every test and every group of test/scenarios, with the name in the source */
export function readScenarioNames(): readonly NamedTest[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .toSorted()
    .flatMap((file) => namesIn(readFileSync(`${folder}/${file}`, 'utf8')).map((name) => ({ file: `${folder}/${file}`, name })))
}

/** A name is the first argument of a call of `it`, `describe`, or of the function that their `each` returns. */
function namesIn(text: string): readonly string[] {
  const calls = text.matchAll(/(?:^\s*(?:it|describe)\(|\)\()\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")/gm)
  return [...calls].map((match) => (match[1] ?? match[2] ?? '').replaceAll(/\\(['"])/g, '$1'))
}

/** A row of a Markdown table, cell by cell. */
export type Row = readonly string[]

/** @returns the rows of all tables of a page, without headers and rules */
export function rowsOf(text: string): readonly Row[] {
  const lines = text.split('\n')
  return lines
    .filter((line, at) => line.startsWith('| ') && !(lines[at + 1] ?? '').startsWith('|---'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

/** @returns the texts in backticks in a cell */
export function quotedIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')
}
