/** One metric. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One sentence or two, without what the name says already. */
  readonly help: string
  /** Which values each label may have. `open`: any, of a bounded number at a time. */
  readonly labels: Readonly<Record<string, readonly string[] | 'open'>>
  /** Upper bounds, in seconds; of histograms. */
  readonly buckets?: readonly number[]
}
