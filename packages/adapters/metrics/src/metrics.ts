import type { MetricName, metricCatalog } from './catalog.ts'

type Catalog = typeof metricCatalog
type NameOf<Type extends string> = { [Name in MetricName]: Catalog[Name]['type'] extends Type ? Name : never }[MetricName]

/** Name of a metric that only increases. */
export type CounterName = NameOf<'counter'>
/** Name of a metric that goes up and down. */
export type GaugeName = NameOf<'gauge'>
/** Name of a metric with a distribution of values. */
export type HistogramName = NameOf<'histogram'>

/** Labels of a metric. A value that is not in the catalog is counted as `other`. */
export type LabelsOf<Name extends MetricName> = { readonly [Label in keyof Catalog[Name]['labels']]: string }

/** One value of a gauge. */
export interface Sample<Name extends GaugeName> {
  readonly labels: LabelsOf<Name>
  readonly value: number
}

/** Metrics of a process. Recording never throws and never blocks. */
export interface Metrics {
  /** @param by increment (≥ 0) @default 1 */
  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, by?: number): void
  /** @param seconds a value below 0, as after a clock step, counts as 0 */
  observe<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void
  /**
   * Calls `read` for the values of a gauge whenever the metrics are read; several readers may supply one gauge. Labels that `read` leaves
   * out are not exported. A reader that throws, or takes longer than two seconds, is left out.
   *
   * @returns a function that removes the reader
   */
  gauge<Name extends GaugeName>(name: Name, read: () => readonly Sample<Name>[] | Promise<readonly Sample<Name>[]>): () => void
  /** @returns all metrics in the Prometheus text format */
  text(): Promise<string>
  /** Content type of the text. */
  readonly contentType: string
}
