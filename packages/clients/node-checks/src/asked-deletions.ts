import type { Clock } from '@tranche/clock'
import { isSamePermit, type SeenPermit } from '@tranche/drain'

/** Nodes whose pod a process wants to delete, and since when. Only time depends on this memory. */
export interface AskedDeletions {
  /**
   * Whether the pod should have been deleted long ago. Something refuses that, such as a webhook: other programs get the Lease for a moment. The
   * time starts again after that answer, with another permit, and after ten minutes in which this process did not ask.
   */
  isTooLong(node: string, permit: SeenPermit['permit'], limitMs: number): boolean
  forget(node: string): void
}

/**
 * Longest time between two questions about a deletion that counts as one wait, in milliseconds. Each of several executors asks now and then while
 * something refuses it. A permit that waits for its budget is not asked about, and nothing refuses it.
 */
const SILENCE_MS = 600_000

/** Creates an empty memory of deletions. */
export function createAskedDeletions(clock: Clock): AskedDeletions {
  /** Permits whose deletion was asked about, by node: since when, and when last (monotonic). */
  const asked = new Map<string, { readonly permit: SeenPermit['permit']; readonly fromMs: number; readonly lastMs: number }>()
  return {
    isTooLong(node, permit, limitMs) {
      const nowMs = clock.monotonicMs()
      const before = asked.get(node)
      const isSameWait = before !== undefined && isSamePermit(before.permit, permit) && nowMs - before.lastMs <= SILENCE_MS
      const fromMs = isSameWait ? before.fromMs : nowMs
      const isTooLong = nowMs - fromMs >= limitMs
      if (isTooLong) asked.delete(node)
      else asked.set(node, { permit, fromMs, lastMs: nowMs })
      return isTooLong
    },
    forget: (node) => void asked.delete(node),
  }
}
