/** The generated pages of docs/reference; its README.md is handwritten. */
import { chartValuesPage } from './chart-values.ts'
import { commandLinePage } from './command-line.ts'
import { customResourcePages } from './custom-resources.ts'
import { errorsPage } from './errors.ts'
import { restPage } from './rest.ts'

/** Folder of the pages. */
export const referenceFolder = 'docs/reference'

/** @returns every page, by file name */
export async function writtenReference(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ...customResourcePages(),
    ['commands.md', commandLinePage()] as const,
    ['errors.md', errorsPage()] as const,
    ['rest.md', await restPage()] as const,
    ['values.md', chartValuesPage()] as const,
  ])
}
