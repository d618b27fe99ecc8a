/** One line of the table: the values of all runs, and the limit of their median. */
export interface Row {
  readonly name: string
  readonly unit: string
  readonly values: readonly number[]
  readonly limit: { readonly atMost: number } | { readonly atLeast: number }
  /** Place of the median in a picture of the report. @default in no picture */
  readonly point?: Point
}

/** Point of a line in a picture. */
export interface Point {
  /** Title of the picture, with the unit of its values. */
  readonly picture: string
  readonly line: string
  /** Size that was varied: a number of nodes, pods or DaemonSets. */
  readonly x: number
  readonly xName: string
}

/** Limit of a row that is only reported. */
export const reportedOnly = { atLeast: 0 }

/** @returns the middle value; of an even number, the greater of the two in the middle */
export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** Whether the median keeps the limit. */
export function isKept({ values, limit }: Pick<Row, 'values' | 'limit'>): boolean {
  return 'atMost' in limit ? medianOf(values) <= limit.atMost : medianOf(values) >= limit.atLeast
}

/** @returns value with as many digits as it deserves */
export function figure(value: number): string {
  const size = Math.abs(value)
  if (size >= 100) return value.toFixed(0)
  return value.toFixed(size < 0.1 && size > 0 ? 4 : 2)
}
