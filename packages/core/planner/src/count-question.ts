/** What a count over the nodes of a view depends on besides the nodes. */
export interface CountQuestion {
  /** `controller-revision-hash` that nodes are counted for. */
  readonly revision: string
  /** How long a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Now, on the monotonic clock that stamped the pods. */
  readonly monotonicMs: number
}

/**
 * Whether the answer to `known` is the answer to `asked` as well, for the same nodes.
 *
 * @param changesAtMs when the first of their pods becomes available by the clock alone (monotonic); null when none will
 */
export function isSameAnswer(known: CountQuestion, asked: CountQuestion, changesAtMs: number | null): boolean {
  return (
    known.revision === asked.revision &&
    known.minReadyMs === asked.minReadyMs &&
    known.monotonicMs <= asked.monotonicMs &&
    (changesAtMs === null || asked.monotonicMs < changesAtMs)
  )
}
