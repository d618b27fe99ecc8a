/** Definition of one metric. */
export interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One or two sentences that do not repeat the name. */
  readonly help: string
  /** Allowed values of each label. `open`: any value, of a bounded number at a time. */
  readonly labels: Readonly<Record<string, readonly string[] | 'open'>>
  /** Upper bounds of a histogram, in seconds. */
  readonly buckets?: readonly number[]
}
