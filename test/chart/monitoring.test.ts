import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { describe, expect, it } from 'vitest'
import { metricCatalog, type MetricDefinition } from '../../packages/adapters/metrics/src/index.ts'
import { programs, render, type Rendered } from './chart.ts'
import { choices } from './values.ts'

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url?: string }
}
interface Dashboard {
  readonly templating: { readonly list: readonly { readonly name: string }[] }
  readonly panels: readonly {
    readonly title: string
    readonly description?: string
    readonly targets: readonly { readonly expr: string }[]
  }[]
}

/** Metrics of the REST API, with the names in its source, and those of controller and executor. */
const counted = [
  ...[...readFileSync('apps/api/src/http/metrics.ts', 'utf8').matchAll(/name: '(tranche_\w+)'/g)].map(([, name = '']) => name),
  ...Object.keys(metricCatalog),
]
const histograms = Object.entries<MetricDefinition>(metricCatalog).flatMap(([name, { type }]) => (type === 'histogram' ? name : []))

describe.skipIf(programs === null)('the objects of the chart for Prometheus and Grafana', () => {
  it('query only metrics that exist, in valid PromQL', async () => {
    const expressions = [...(await rules()).map(({ expr }) => expr), ...(await dashboardExpressions())]
    expect(expressions.length).toBeGreaterThan(40)
    for (const expression of expressions) {
      expect(() => parser.configure({ strict: true }).parse(expression)).not.toThrow()
      const names = [...expression.matchAll(/\btranche_\w+/g)].map(([name]) => metricOf(name))
      expect(names.filter((name) => !counted.includes(name))).toEqual([])
    }
  })

  it('group and select only by labels that the metric has, or that Prometheus adds', async () => {
    const added = ['job', 'namespace', 'pod', 'le', 'alertstate', 'alertname']
    for (const expression of [...(await rules()).map(({ expr }) => expr), ...(await dashboardExpressions())]) {
      const names = [...expression.matchAll(/\btranche_\w+/g)].map(([name]) => metricOf(name)).filter((name) => name in metricCatalog)
      const has = new Set(names.flatMap((name) => Object.keys(metricCatalog[name as keyof typeof metricCatalog].labels)))
      const chosen = [...expression.matchAll(/\{([^}]*)\}/g)].flatMap(([, text = '']) =>
        [...text.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label),
      )
      const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, text = '']) => text.split(',').map((label) => label.trim()))
      if (names.length === 0) continue
      expect(
        [...chosen, ...grouped].filter((label) => !has.has(label ?? '') && !added.includes(label ?? '')),
        expression,
      ).toEqual([])
    }
  })

  it('show every metric that exists', async () => {
    const shown = (await dashboardExpressions()).join(' ')
    expect(counted.filter((name) => !shown.includes(name ?? ''))).toEqual([])
  })

  it('describe every panel, and let a viewer choose namespaces and Rollouts', async () => {
    for (const { templating, panels } of await dashboards()) {
      const variables = templating.list.map(({ name }) => name)
      for (const { title, description, targets } of panels) {
        expect(description, title).toMatch(/\w+.*\.$/)
        for (const { expr } of targets) {
          const selectors = [...expr.matchAll(/\b((?:tranche|process)_\w+)(\{[^}]*\})?/g)].map(([, name = '', chosen = '']) => ({
            name,
            chosen,
          }))
          for (const { name, chosen } of selectors) {
            expect(chosen, expr).toContain('namespace=~"$namespace"')
            const labels = Object.keys((metricCatalog as Readonly<Record<string, MetricDefinition>>)[metricOf(name)]?.labels ?? {})
            if (labels.includes('rollout')) expect(chosen, expr).toContain('rollout=~"$rollout"')
          }
        }
      }
      expect(variables.slice(0, 2)).toEqual(['datasource', 'namespace'])
    }
  })

  it('show only processes of Tranche, selected by their metrics and not by job names that other programs may have too', async () => {
    const found = (await dashboardExpressions()).filter((expr) => expr.includes('process_'))
    expect(found).toHaveLength(4)
    for (const expr of found) {
      expect(expr).toMatch(/ and on \(namespace, job, instance\) tranche_\w+/)
      expect(expr).not.toContain('job=')
    }
  })

  it('give each alert the severity in its runbook, unless the values say otherwise', async () => {
    const page = readFileSync('docs/operations/alerts.md', 'utf8')
    const written = [...page.matchAll(/^## (\w+)\n\nSeverity `(\w+)`/gm)].map(([, alert, severity]) => [alert, severity])
    const given = await rules(choices['watched by Prometheus']!)
    expect([...new Map(given.map(({ alert, labels }) => [alert, labels.severity]))]).toEqual(written)
    expect(given.some(({ annotations }) => annotations.runbook_url !== undefined)).toBe(false)
    const [stalled, ...others] = await rules()
    expect(stalled).toMatchObject({ alert: 'TrancheReleaseStalled', labels: { severity: 'page' } })
    for (const { alert, annotations } of [stalled!, ...others])
      expect(annotations.runbook_url).toBe(`https://runbooks.example/tranche/alerts#${alert.toLowerCase()}`)
  })

  it('fire alerts at the thresholds in the values', async () => {
    const found = new Map((await rules()).map((rule) => [rule.alert, rule]))
    expect(found.get('TrancheReleaseStandsStill')?.expr).toMatch(/> 900$/)
    expect(found.get('TrancheReleaseStandsStill')?.annotations.summary).toContain('for 15m')
    expect(found.get('TrancheApiErrors')?.expr).toMatch(/> 0\.01$/)
    expect(found.get('TrancheApprovalWaits')?.expr).toMatch(/> 86400$/)
  })

  it('link every alert to its runbook', async () => {
    const page = readFileSync('docs/operations/alerts.md', 'utf8')
    const found = await rules()
    expect([...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual([...new Set(found.map(({ alert }) => alert))])
    for (const { alert, annotations } of found)
      expect(annotations.description).toContain(`docs/operations/alerts.md#${alert.toLowerCase()}`)
  })

  it.each(['watched by Prometheus', 'every option'])('read the metrics of the pods that serve them, with %s', async (name) => {
    const objects = await render(choices[name]!)
    const monitors = objects.filter(({ kind }) => kind === 'ServiceMonitor') as unknown as readonly Monitor[]
    expect(monitors.map(({ spec }) => spec.endpoints.map(({ port, path }) => `${port}${path}`))).toEqual([
      ['http/metrics'],
      ['metrics/metrics'],
    ])
    const read = monitors.flatMap(({ spec }) =>
      (objects as unknown as readonly Service[])
        .filter(({ kind, metadata }) => kind === 'Service' && isIn(spec.selector.matchLabels, metadata.labels))
        .flatMap((service) =>
          service.spec.ports.filter((port) => port.name === spec.endpoints[0]?.port).map((port) => ({ service, port })),
        ),
    )
    const deployments = objects.filter(({ kind }) => kind === 'Deployment') as unknown as readonly Deployment[]
    const reached = read.flatMap(({ service, port }) =>
      deployments
        .filter(({ spec }) => isIn(service.spec.selector, spec.template.metadata.labels))
        .map(({ metadata, spec }) => {
          const [container] = spec.template.spec.containers
          const found = container?.ports.find((one) => one.name === port.targetPort)
          expect(container?.args, 'the port equals the argument of the program').toContainEqual(
            expect.stringMatching(new RegExp(`^--(api|metrics)-port=${found?.containerPort}$`)),
          )
          return `${metadata.name}:${found?.containerPort}`
        }),
    )
    expect(reached).toEqual(
      name === 'every option'
        ? ['rollouts-api:8080', 'rollouts-controller:8082', 'rollouts-executor:8082']
        : ['tranche:8080', 'tranche:8082'],
    )
  })

  it('serve no metrics, and contain no reader for them, if metrics are off', async () => {
    const values = { mode: 'distributed', redis: { url: 'redis://redis' }, api: { enabled: false } }
    const objects = await render({ ...values, metrics: { enabled: false } })
    expect(objects.filter(({ kind }) => kind === 'ServiceMonitor' || kind === 'Service')).toEqual([])
    expect(JSON.stringify(objects.filter(({ kind }) => kind !== 'CustomResourceDefinition'))).not.toContain('metrics-port')
  })

  it('admit to the metrics only the clients in networkPolicy.metricsFrom', async () => {
    const objects = await render(choices['every option']!)
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy') as unknown as readonly Policy[]
    const from = policies.flatMap(({ metadata, spec }) =>
      spec.ingress.filter(({ ports }) => ports.some(({ port }) => port === 'metrics')).map((rule) => [metadata.name, rule.from]),
    )
    const prometheus = [{ namespaceSelector: { matchLabels: { app: 'prometheus' } } }]
    expect(from).toEqual([
      ['rollouts-controller', prometheus],
      ['rollouts-executor', prometheus],
    ])
  })
})

interface Monitor {
  readonly spec: {
    readonly selector: { readonly matchLabels: Labels }
    readonly endpoints: readonly { readonly port: string; readonly path: string }[]
  }
}
interface Service {
  readonly kind: string
  readonly metadata: { readonly labels?: Labels }
  readonly spec: { readonly selector: Labels; readonly ports: readonly { readonly name: string; readonly targetPort: string }[] }
}
interface Deployment {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Labels }
      readonly spec: {
        readonly containers: readonly {
          readonly args: readonly string[]
          readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
        }[]
      }
    }
  }
}
interface Policy {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly ingress: readonly { readonly ports: readonly { readonly port: string }[]; readonly from?: unknown }[] }
}
type Labels = Readonly<Record<string, string>>

function isIn(wanted: Labels, labels: Labels | undefined): boolean {
  return Object.entries(wanted).every(([label, value]) => labels?.[label] === value)
}

/** A histogram has its name with a suffix. */
function metricOf(name: string): string {
  const stem = name.replace(/_(bucket|sum|count)$/, '')
  return histograms.includes(stem) || stem.startsWith('tranche_api_') ? stem : name
}

async function rules(values = choices['every option']!): Promise<readonly Rule[]> {
  const { spec } = (await render(values)).find(({ kind }) => kind === 'PrometheusRule') as Rendered
  return (spec as unknown as { readonly groups: readonly { readonly rules: readonly Rule[] }[] }).groups.flatMap((group) => group.rules)
}

async function dashboardExpressions(): Promise<readonly string[]> {
  return (await dashboards()).flatMap(({ panels }) => panels).flatMap(({ targets }) => targets.map(({ expr }) => expr))
}

async function dashboards(): Promise<readonly Dashboard[]> {
  const map = (await render(choices['every option']!)).find(({ metadata }) => metadata.name.endsWith('-dashboard'))
  const { data } = map as unknown as { readonly data: Readonly<Record<string, string>> }
  expect(Object.keys(data)).toEqual(['tranche.json', 'tranche-api.json'])
  return Object.values(data).map((text) => JSON.parse(text) as Dashboard)
}
