import type { Clock } from '@tranche/clock'
import { isSamePermit, type SeenPermit } from '@tranche/drain'

/** Nodes whose pod a process wants to delete, and since when. Only time depends on this memory. */
export interface AskedDeletions {
  /**
   * Whether the pod should have been deleted long ago. Something refuses that, such as a webhook: other programs get the Lease for a moment. The
   * time starts again after that answer, and with another permit.
   */
  isTooLong(node: string, permit: SeenPermit['permit'], limitMs: number): boolean
  forget(node: string): void
}

/** Creates an empty memory of deletions. */
export function createAskedDeletions(clock: Clock): AskedDeletions {
  /** Permits whose deletion was asked about, by node, and since when (monotonic). */
  const asked = new Map<string, { readonly permit: SeenPermit['permit']; readonly fromMs: number }>()
  return {
    isTooLong(node, permit, limitMs) {
      const nowMs = clock.monotonicMs()
      const before = asked.get(node)
      const fromMs = before !== undefined && isSamePermit(before.permit, permit) ? before.fromMs : nowMs
      const isTooLong = nowMs - fromMs >= limitMs
      if (isTooLong) asked.delete(node)
      else asked.set(node, { permit, fromMs })
      return isTooLong
    },
    forget: (node) => void asked.delete(node),
  }
}
