import { type Clock, sleep } from '@tranche/clock'
import type { Logger } from '@tranche/telemetry'
import type { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { metricCatalog, type MetricName } from './catalog.ts'
import type { MetricDefinition } from './metric-definition.ts'
import type { GaugeName, Metrics, Sample } from './metrics.ts'

/** Dependencies and settings of {@link createMetrics}. */
export interface MetricsOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Exported as `tranche_build_info`. */
  readonly version: string
  /** Also exports processor and memory use of the process, as `process_…` and `nodejs_…`. @default false */
  readonly withProcess?: boolean
}

/** Time limit of reading a gauge, in milliseconds: an unavailable queue must not delay the others. */
const READ_MS = 2_000

/** Creates metrics without any values. The library is loaded here on demand, so a process without metrics does not need it. */
export async function createMetrics({ clock, log, version, withProcess = false }: MetricsOptions): Promise<Metrics> {
  const library = await import('prom-client')
  const registry = new library.default.Registry()
  if (withProcess) library.default.collectDefaultMetrics({ register: registry })
  const built = build(library.default, registry, async (name) => {
    const reads = [...(readers.get(name) ?? [])]
    return (await Promise.all(reads.map((read) => readInTime(name, read)))).flat()
  })
  const readers = new Map<string, Set<Read>>()

  async function readInTime(name: string, read: Read): Promise<readonly AnySample[]> {
    const giving = new AbortController()
    const late = sleep(clock, READ_MS, giving.signal).then(() => Promise.reject(new Error(`it took longer than ${READ_MS} ms`)))
    late.catch(() => {})
    try {
      return await Promise.race([(async () => read())(), late])
    } catch (error) {
      log.debug({ metric: name, err: error }, 'could not read a gauge')
      return []
    } finally {
      giving.abort()
    }
  }

  /** The scrape in progress, which simultaneous ones share: reading the gauges is the expensive part, and needs no authentication. */
  let scrape: Promise<string> | undefined
  const metrics: Metrics = {
    count: (name, labels, by = 1) => built.counters.get(name)?.inc(known(name, labels), by),
    observe(name, labels, seconds) {
      if (Number.isFinite(seconds)) built.histograms.get(name)?.observe(known(name, labels), Math.max(0, seconds))
    },
    gauge(name, read) {
      const all = readers.get(name) ?? new Set()
      readers.set(name, all.add(read as Read))
      return () => void all.delete(read as Read)
    },
    text: () => (scrape ??= registry.metrics().finally(() => (scrape = undefined))),
    contentType: registry.contentType,
  }
  metrics.gauge('tranche_build_info', () => [{ labels: { version }, value: 1 }])
  return metrics
}

type AnySample = Sample<GaugeName>
type Read = () => readonly AnySample[] | Promise<readonly AnySample[]>
type AnyLabels = Readonly<Record<string, string>>

interface Built {
  readonly counters: ReadonlyMap<string, Counter>
  readonly histograms: ReadonlyMap<string, Histogram>
}

function build(
  { Counter, Gauge, Histogram }: Pick<typeof import('prom-client'), 'Counter' | 'Gauge' | 'Histogram'>,
  registry: Registry,
  readGauge: (name: string) => Promise<readonly AnySample[]>,
): Built {
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  for (const [name, { type, help, labels, buckets = [] }] of Object.entries<MetricDefinition>(metricCatalog)) {
    const common = { name, help, labelNames: Object.keys(labels), registers: [registry] }
    if (type === 'counter') counters.set(name, new Counter(common))
    else if (type === 'histogram') histograms.set(name, new Histogram({ ...common, buckets: [...buckets] }))
    else
      new Gauge({
        ...common,
        async collect(this: Gauge) {
          const samples = await readGauge(name)
          this.reset()
          // Without labels, reset makes it 0, which would be exported.
          if (common.labelNames.length === 0) this.remove()
          for (const sample of samples) this.set(known(name as MetricName, sample.labels), sample.value)
        },
      })
  }
  return { counters, histograms }
}

/** Limits a label to the values of the catalog, whatever comes from outside. */
function known(name: MetricName, labels: AnyLabels): Record<string, string> {
  const allowed: MetricDefinition['labels'] = metricCatalog[name].labels
  return Object.fromEntries(
    Object.entries(labels).map(([label, value]) => {
      const values = allowed[label]
      return [label, values === undefined || values === 'open' || values.includes(value) ? value : 'other']
    }),
  )
}
