/** Mapping of values, and the return value for an early end. */
export interface MapOptions<T, U, R> {
  readonly change: (value: T) => U
  /** Return value passed to the source if the consumer stops early. */
  readonly end: R
}

/** Maps the values of `source`, returns its result, and closes it if the consumer stops early. */
export async function* mapped<T, U, R>(
  source: AsyncGenerator<T, R, undefined>,
  { change, end }: MapOptions<T, U, R>,
): AsyncGenerator<U, R, undefined> {
  try {
    for (;;) {
      const next = await source.next()
      if (next.done === true) return next.value
      yield change(next.value)
    }
  } finally {
    await source.return(end)
  }
}
