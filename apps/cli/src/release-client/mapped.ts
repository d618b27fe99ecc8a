/** How a generator is mapped. */
export interface MapOptions<T, U, R> {
  readonly change: (value: T) => U
  /** What the source is ended with by who leaves the loop. */
  readonly end: R
}

/** Each value of `source`, changed; ends as the source does, and ends it. */
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
