import { errorCatalog } from '../../packages/words/errors/src/index.ts'
import { code, MADE, page, prose, table } from './markdown.ts'

/** @returns the page of error codes: remedy, HTTP status, summary, and a link to the full description */
export function errorsPage(): string {
  const rows = Object.entries(errorCatalog).map(([name, { remedy, httpStatus, summary }]) => [
    `[${code(name)}](../errors.md#${name.toLowerCase()})`,
    code(remedy),
    String(httpStatus),
    prose(summary),
  ])
  return page([
    '# Error codes',
    MADE,
    'For the meaning of each remedy, and the cause and fix of each error, see [errors](../errors.md).',
    table(['code', 'remedy', 'HTTP', 'says'], rows),
  ])
}
