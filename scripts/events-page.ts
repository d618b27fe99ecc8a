/** Table of docs/operations/events.md: every event with its reason and when it is written. */
import { readFileSync } from 'node:fs'
import { eventCatalog } from '../packages/words/api-schema/src/index.ts'
import { table } from './reference/markdown.ts'

const page = 'docs/operations/events.md'

/** @returns docs/operations/events.md with the table of the catalog; the text around it is unchanged */
export function writtenEvents(): { readonly path: string; readonly text: string } {
  const rows = Object.entries(eventCatalog).map(([reason, { types, on, when }]) => [`\`${reason}\``, types.join(', '), on.join(', '), when])
  const text = readFileSync(page, 'utf8').replace(
    /(<!-- events -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, begin: string, end: string) => `${begin}\n${table(['reason', 'type', 'on', 'when'], rows)}\n\n${end}`,
  )
  return { path: page, text }
}
