import { durationMs } from '@tranche/api-schema'
import type { HelperPod } from './helper-pod.ts'

/** How far the pull on a node is. */
export type PullProgress =
  | { readonly kind: 'pulled' }
  /** `leftMs`: time until it counts as failed, in milliseconds. */
  | { readonly kind: 'pulling'; readonly leftMs: number }
  /** An image cannot be pulled, or not within the time. */
  | { readonly kind: 'failed'; readonly message: string }

/** @param timeout as in the policy: `10m` @param nowMs epoch milliseconds by the clock of the API server (F14) */
export function pullProgress({ state, createdMs }: Pick<HelperPod, 'state' | 'createdMs'>, timeout: string, nowMs: number): PullProgress {
  if (state.kind !== 'pulling') return state
  const leftMs = createdMs + durationMs(timeout) - nowMs
  return leftMs > 0 ? { kind: 'pulling', leftMs } : { kind: 'failed', message: `the images were not pulled within ${timeout}` }
}
