/** Table of docs/operations/metrics.md: every metric of controller and executor, with the values of its labels. */
import { readFileSync } from 'node:fs'
import { metricCatalog, type MetricDefinition } from '../packages/adapters/metrics/src/index.ts'

const page = 'docs/operations/metrics.md'

/** @returns docs/operations/metrics.md with the table of the catalog; the text around it is unchanged */
export function writtenMetrics(): { readonly path: string; readonly text: string } {
  const rows = Object.entries<MetricDefinition>(metricCatalog).map(
    ([name, { type, help, labels }]) => `| \`${name}\` | ${type} | ${help.replaceAll('|', '\\|')} | ${labelsText(labels)} |`,
  )
  const table = ['| metric | type | means | labels |', '|---|---|---|---|', ...rows, ''].join('\n')
  const text = readFileSync(page, 'utf8').replace(
    /(<!-- metrics -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, begin: string, end: string) => `${begin}\n${table}\n${end}`,
  )
  return { path: page, text }
}

function labelsText(labels: MetricDefinition['labels']): string {
  const texts = Object.entries(labels).map(([label, values]) => (values === 'open' ? `\`${label}\`` : `\`${label}\`: ${values.join(', ')}`))
  return texts.join('; ')
}
