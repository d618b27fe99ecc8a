import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { describe, expect, it } from 'vitest'
import { programs, render, type Rendered } from './chart.ts'
import { choices } from './values.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly description: string }
}
interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
}

/** As the source of the REST API names them. */
const counted = [...readFileSync('apps/api/src/http/metrics.ts', 'utf8').matchAll(/name: '(tranche_\w+)'/g)].map(([, name]) => name)

describe.skipIf(programs === null)('what the chart brings for Prometheus and Grafana', { timeout: 120_000 }, () => {
  it('asks only for metrics that exist, in PromQL that can be read', async () => {
    const expressions = [...(await rules()).map(({ expr }) => expr), ...(await dashboardExpressions())]
    expect(expressions.length).toBeGreaterThan(8)
    for (const expression of expressions) {
      expect(() => parser.configure({ strict: true }).parse(expression)).not.toThrow()
      const names = [...expression.matchAll(/\btranche_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''))
      expect(names.filter((name) => !counted.includes(name))).toEqual([])
    }
  })

  it('shows every metric that exists', async () => {
    const shown = (await dashboardExpressions()).join(' ')
    expect(counted.filter((name) => !shown.includes(name ?? ''))).toEqual([])
  })

  it('leads from every alert to what to do', async () => {
    const page = readFileSync('docs/operations/alerts.md', 'utf8')
    const found = await rules()
    expect([...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual(found.map(({ alert }) => alert))
    for (const { alert, annotations } of found)
      expect(annotations.description).toContain(`docs/operations/alerts.md#${alert.toLowerCase()}`)
  })

  it('reads the metrics of the pods that serve them', async () => {
    const objects = await render(choices['watched by Prometheus']!)
    const service = objects.find(({ kind }) => kind === 'Service')
    const monitor = objects.find(({ kind }) => kind === 'ServiceMonitor')?.spec as unknown as {
      readonly selector: { readonly matchLabels: object }
      readonly endpoints: readonly object[]
    }
    expect(service?.metadata.labels).toMatchObject(monitor.selector.matchLabels)
    expect(monitor.endpoints).toEqual([expect.objectContaining({ port: 'http', path: '/metrics' })])
  })
})

async function rules(): Promise<readonly Rule[]> {
  const { spec } = (await render(choices['every option']!)).find(({ kind }) => kind === 'PrometheusRule') as Rendered
  return (spec as unknown as { readonly groups: readonly { readonly rules: readonly Rule[] }[] }).groups.flatMap((group) => group.rules)
}

async function dashboardExpressions(): Promise<readonly string[]> {
  const map = (await render(choices['every option']!)).find(({ metadata }) => metadata.name.endsWith('-dashboard'))
  const { data } = map as unknown as { readonly data: Readonly<Record<string, string>> }
  const { panels } = JSON.parse(data['tranche-api.json'] ?? '') as Dashboard
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
}
