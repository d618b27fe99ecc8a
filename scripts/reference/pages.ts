/** The generated pages of docs/reference, beside the handwritten ones. */
import { chartValuesPage } from './chart-values.ts'
import { commandLinePage } from './command-line.ts'
import { customResourcePages } from './custom-resources.ts'
import { restPage } from './rest.ts'

/** Folder of the pages. */
export const referenceFolder = 'docs/reference'

/** @returns every page, by file name */
export async function writtenReference(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ...customResourcePages(),
    ['commands.md', commandLinePage()] as const,
    ['rest.md', await restPage()] as const,
    ['values.md', chartValuesPage()] as const,
  ])
}
