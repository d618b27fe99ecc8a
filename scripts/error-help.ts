import { readFileSync } from 'node:fs'
import { type ErrorCode, errorCatalog } from '../packages/words/errors/src/index.ts'

/** Page with a section for each error code. */
const page = 'docs/reference/error-codes.md'

/** Causes and remedies of each error code, which the REST API serves, as JSON from the page. */
export function writtenErrorHelp(): { readonly path: string; readonly text: string } {
  const sections = new Map(readFileSync(page, 'utf8').split('\n## ').slice(1).map(sectionOf))
  const codes = Object.keys(errorCatalog) as ErrorCode[]
  const help = Object.fromEntries(codes.map((code) => [code, helpIn(sections.get(code), code)]))
  return { path: 'apps/api/src/routes/error-help.generated.json', text: `${JSON.stringify(help, null, 2)}\n` }
}

function sectionOf(text: string): readonly [string, string] {
  const end = text.indexOf('\n')
  return [text.slice(0, end), text.slice(end)]
}

function helpIn(section: string | undefined, code: ErrorCode): { readonly when: string; readonly fix: string } {
  const [, when, fix] = /\*\*When\.\*\*(.*)\*\*What to do\.\*\*(.*)/s.exec(section ?? '') ?? []
  if (when === undefined || fix === undefined) throw new Error(`${page} does not say when ${code} occurs and what to do`)
  return { when: plainText(when), fix: plainText(fix) }
}

/** Text of one line without links, whose relative addresses mean nothing outside the page. */
function plainText(markdown: string): string {
  return markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
