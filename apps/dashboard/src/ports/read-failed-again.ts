import type { QueryClient } from '@tanstack/react-query'
import type { ReleaseStore } from '../live/release-store.ts'

/**
 * Repeats the reads on the screen that have failed, each time the stream is live again: what it lost meanwhile, they may have lost too.
 *
 * @returns function that ends it
 */
export function readFailedAgain(queries: QueryClient, releases: Pick<ReleaseStore, 'subscribe' | 'snapshot'>): () => void {
  let before = releases.snapshot().live.kind
  return releases.subscribe(() => {
    const now = releases.snapshot().live.kind
    const isBack = now === 'live' && before !== 'live'
    before = now
    if (isBack) void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
  })
}
