/**
 * Evidence in the sources for each guarantee (G1 to G13) and fence rule (F1 to F15). Code has the id in its doc comment, and a test has
 * it in parentheses in its name. The lists of docs/contribute/evidence.md are generated from it.
 */
import { globSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** All ids, in order. */
export const guaranteeIds: readonly string[] = [...numbered('G', 13), ...numbered('F', 15)]

/** Something in the sources that cites ids. */
export interface Citation {
  /** Path from the root of the repository. */
  readonly file: string
  /** Name of the function, constant or class, or of the test as written. */
  readonly name: string
  /** Ids as written, with ranges expanded; they may include unknown ids. */
  readonly ids: readonly string[]
}

/** Evidence that an id is kept. */
export interface Evidence {
  /** Declarations whose doc comment has the id. */
  readonly code: readonly Citation[]
  /** Tests in files named `*.property.test.ts`. */
  readonly properties: readonly Citation[]
  /** Tests in test/scenarios and test/faults. */
  readonly scenarios: readonly Citation[]
}

const page = 'docs/contribute/evidence.md'
/** Packages that only check guarantees of other packages. They are no evidence themselves. */
const noKeepers = /^packages\/(simulator|harness\/testing|ports\/[a-z]+-conformance)\//

/** @returns everything in the sources that cites an id, known or not */
export function readCitations(): { readonly code: readonly Citation[]; readonly tests: readonly Citation[] } {
  const files = ['packages', 'apps', 'test'].flatMap(typeScriptFiles)
  const sources = files.filter((file) => /^(packages\/[^/]+|apps)\/[^/]+\/src\//.test(file))
  const tests = files.filter((file) => file.endsWith('.test.ts'))
  return { code: sources.flatMap(citationsInComments), tests: tests.flatMap(citationsInNames) }
}

/** @returns the evidence that this id is kept */
export function evidenceFor(id: string, { code, tests }: ReturnType<typeof readCitations>): Evidence {
  const cites = ({ ids }: Citation): boolean => ids.includes(id)
  return {
    code: code.filter((one) => cites(one) && !noKeepers.test(one.file)),
    properties: tests.filter((one) => cites(one) && one.file.endsWith('.property.test.ts')),
    scenarios: tests.filter((one) => cites(one) && /^test\/(scenarios|faults)\//.test(one.file) && !one.file.endsWith('.property.test.ts')),
  }
}

/** @returns docs/contribute/evidence.md with the list of every id from the sources; the text around the lists is unchanged */
export function writtenPage(): { readonly path: string; readonly text: string } {
  const citations = readCitations()
  const text = readFileSync(page, 'utf8').replace(
    /(<!-- evidence of ([GF]\d+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_all, begin: string, id: string, end: string) => `${begin}\n${evidenceText(evidenceFor(id, citations))}\n${end}`,
  )
  return { path: page, text }
}

function evidenceText({ code, properties, scenarios }: Evidence): string {
  const kept = code.map(({ file, name }) => `[\`${name}\`](${linkTo(file)})`)
  return [`Kept by ${listed(kept)}.`, '', ...testsText('Properties', properties), ...testsText('Scenarios', scenarios)].join('\n')
}

function testsText(title: string, tests: readonly Citation[]): readonly string[] {
  const byFile = Map.groupBy(tests, ({ file }) => file)
  if (byFile.size === 0) return [`${title}: none.`, '']
  const lines = [...byFile].flatMap(([file, here]) => [
    `- [${file.split('/').at(-1)}](${linkTo(file)})`,
    ...here.map(({ name }) => `  - ${name.replace(/[<>*_`[\]|]/g, String.raw`\$&`)}`),
  ])
  return [`${title}:`, '', ...lines, '']
}

function listed(texts: readonly string[]): string {
  return texts.length === 0 ? 'nothing' : texts.join(', ')
}

function linkTo(file: string): string {
  return relative('docs/contribute', file)
}

/** A doc comment belongs to the declaration that follows it. */
function citationsInComments(file: string): readonly Citation[] {
  const text = readFileSync(file, 'utf8')
  const pattern = /\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*(?:export )?(?:default )?(?:async )?(?:(?:function\*?|class|const) )(\w+)/g
  return [...text.matchAll(pattern)].flatMap(([, comment = '', name = '']) => citation(file, name, comment))
}

/** Names of tests and of table cases: the strings of a test file that have ids in parentheses. */
function citationsInNames(file: string): readonly Citation[] {
  const code = readFileSync(file, 'utf8').replace(/^\s*(\/\/|\/?\*).*$/gm, '')
  const strings = [...code.matchAll(/(?<![\w])(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")/g)].map((match) => match[1] ?? match[2] ?? '')
  const names = strings.filter((text) => /\((?:[^()]*[ ,])?[GF]\d{1,2}\b[^()]*\)/.test(text))
  return names.flatMap((name) =>
    citation(file, name.replaceAll(/\\(['"])/g, '$1'), [...name.matchAll(/\(([^()]*)\)/g)].map(([, ids]) => ids).join(' ')),
  )
}

function citation(file: string, name: string, text: string): readonly Citation[] {
  const ids = idsIn(text)
  return ids.length === 0 ? [] : [{ file, name, ids }]
}

/** `G1 to G4, F2` cites G1, G2, G3, G4 and F2. */
function idsIn(text: string): readonly string[] {
  const spelled = text.replaceAll(/\b([GF])(\d{1,2}) to \1(\d{1,2})\b/g, (_all, kind: string, from: string, to: string) =>
    numbered(kind, Number(to))
      .slice(Math.max(0, Number(from) - 1))
      .join(' '),
  )
  return [...new Set([...spelled.matchAll(/\b[GF]\d{1,2}\b/g)].map(([id]) => id))]
}

function numbered(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${kind}${at + 1}`)
}

function typeScriptFiles(folder: string): readonly string[] {
  return globSync(`${folder}/**/*.ts`, { exclude: ['**/node_modules'] }).toSorted()
}
