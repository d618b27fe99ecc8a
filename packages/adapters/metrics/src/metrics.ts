import type { MetricName, metricCatalog } from './catalog.ts'

type Catalog = typeof metricCatalog
type NameOf<Type extends string> = { [Name in MetricName]: Catalog[Name]['type'] extends Type ? Name : never }[MetricName]

/** Name of a metric that only grows. */
export type CounterName = NameOf<'counter'>
/** Name of a metric that goes up and down. */
export type GaugeName = NameOf<'gauge'>
/** Name of a metric that tells how values are spread. */
export type HistogramName = NameOf<'histogram'>

/** The labels of a metric. A value that the catalog does not know is counted as `other`. */
export type LabelsOf<Name extends MetricName> = { readonly [Label in keyof Catalog[Name]['labels']]: string }

/** One value of a gauge. */
export interface Sample<Name extends GaugeName> {
  readonly labels: LabelsOf<Name>
  readonly value: number
}

/** Where things are counted. Counting never throws, and keeps nobody waiting. */
export interface Metrics {
  /** @param by how much (≥ 0) @default 1 */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void
  /** @param seconds below 0, as after a step of a clock, counts as 0 */
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void
  /**
   * Asks `read` for the values of a gauge whenever somebody reads the metrics; several may tell of one gauge. What it leaves out is not
   * told; what it throws, or tells later than two seconds, is left out.
   *
   * @returns ends that
   */
  gauge<Name extends GaugeName>(name: Name, read: () => readonly Sample<Name>[] | Promise<readonly Sample<Name>[]>): () => void
  /** @returns all of it, as Prometheus reads it */
  text(): Promise<string>
  /** Of the text. */
  readonly contentType: string
}
