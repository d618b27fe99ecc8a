/** The pages of docs/reference that are made from the sources; its README.md is written by hand. */
import { chartValuesPage } from './chart-values.ts'
import { commandLinePage } from './command-line.ts'
import { customResourcePages } from './custom-resources.ts'
import { errorsPage } from './errors.ts'
import { restPage } from './rest.ts'

/** Where they stand. */
export const referenceFolder = 'docs/reference'

/** @returns every page by its name in the folder */
export async function writtenReference(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ...customResourcePages(),
    ['commands.md', commandLinePage()] as const,
    ['errors.md', errorsPage()] as const,
    ['rest.md', await restPage()] as const,
    ['values.md', chartValuesPage()] as const,
  ])
}
