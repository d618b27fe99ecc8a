import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createApiMetrics } from '../../apps/api/src/http/metrics.ts'
import { systemClock } from '../../packages/words/clock/src/index.ts'
import { silentLogger } from '../../packages/words/telemetry/src/index.ts'
import { createMetrics, metricCatalog, type MetricDefinition } from '../../packages/adapters/metrics/src/index.ts'

const page = readFileSync('docs/operations/metrics.md', 'utf8')

describe('docs/operations/metrics.md', () => {
  it('has every metric that a process exports, with its type, and no other', async () => {
    const { text } = await createMetrics({ clock: systemClock, log: silentLogger, version: '0.1.0' })
    expect([...page.matchAll(/^\| `(tranche_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`)).toEqual(
      typesIn(await text()),
    )
  })

  it('queries only existing metrics', () => {
    const asked = [...page.matchAll(/\b(tranche_\w+?)(?:_bucket|_sum|_count)?\b(?=[^\w`]|$)/g)].map(([, name]) => name ?? '')
    expect(asked.filter((name) => !(name in metricCatalog) && !name.startsWith('tranche_api_'))).toEqual([])
  })

  it('rightly says that metrics of the process are exported too', async () => {
    const { text } = await createMetrics({ clock: systemClock, log: silentLogger, version: '0.1.0', withProcess: true })
    const others = typesIn(await text()).filter((line) => !line.startsWith('tranche_'))
    expect(others.filter((line) => !/^(process|nodejs)_/.test(line))).toEqual([])
    expect(others).toEqual(expect.arrayContaining(['process_resident_memory_bytes gauge', 'nodejs_heap_size_used_bytes gauge']))
  })

  it.each(Object.entries<MetricDefinition>(metricCatalog))(
    '%s follows the naming rules of Prometheus, and its labels are bounded',
    (name, metric) => {
      expect(name.endsWith('_total')).toBe(metric.type === 'counter')
      expect(name.endsWith('_seconds')).toBe(metric.type === 'histogram' || /_(still|need|silence|left)_seconds$/.test(name))
      expect(metric.help).toMatch(/^[A-Z].*\.$/)
      const open = Object.entries(metric.labels).flatMap(([label, values]) => (values === 'open' ? label : []))
      expect(open.filter((label) => !(metric.type === 'gauge' && ['rollout', 'version'].includes(label)))).toEqual([])
    },
  )
})

it('docs/operations/metrics.md has every metric that the REST API exports, and no other', async () => {
  const listed = [...page.matchAll(/^\| `(tranche_api_\w+)` \|/gm)].map(([, name]) => name)
  expect(listed).toEqual(typesIn(await createApiMetrics().text()).map((line) => line.split(' ')[0]))
})

/** `name type` of each metric in a text that Prometheus reads. */
function typesIn(text: string): readonly string[] {
  return [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`)
}
