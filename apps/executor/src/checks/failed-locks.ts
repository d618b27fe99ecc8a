import type { Clock } from '@tranche/clock'

/** Nodes whose Lease could not be written a moment ago. Without this memory, a node would get a permit for each attempt. */
export interface FailedLocks {
  /** Records why the Lease of the node could not be written. */
  add(node: string, message: string): void
  /** @returns that reason for a minute; then null, and the Lease is written again */
  messageFor(node: string): string | null
}

/** Delay before a Lease that could not be written is written again, in milliseconds. */
const FAILED_AGAIN_MS = 60_000

/** Creates an empty memory of failed writes. */
export function createFailedLocks(clock: Clock): FailedLocks {
  const failed = new Map<string, { readonly message: string; readonly untilMs: number }>()
  return {
    add(node, message) {
      failed.set(node, { message, untilMs: clock.monotonicMs() + FAILED_AGAIN_MS })
    },
    messageFor(node) {
      for (const [one, { untilMs }] of failed) if (clock.monotonicMs() >= untilMs) failed.delete(one)
      return failed.get(node)?.message ?? null
    },
  }
}
