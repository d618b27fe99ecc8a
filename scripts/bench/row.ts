/** One line of the table: the values of all runs, and the limit of their median. */
export interface Row {
  readonly name: string
  readonly unit: string
  readonly values: readonly number[]
  readonly limit: { readonly atMost: number } | { readonly atLeast: number }
}
