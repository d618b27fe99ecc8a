/** Parameters of a count over the nodes of a view. */
export interface CountQuestion {
  /** `controller-revision-hash` for which nodes are counted. */
  readonly revision: string
  /** How long (ms) a pod must be Ready to be available. */
  readonly minReadyMs: number
  /** Now, on the monotonic clock that stamped the pods. */
  readonly monotonicMs: number
}

/**
 * Whether the answer to `known` also answers `asked`, for the same nodes.
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
