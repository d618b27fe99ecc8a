import type { ConfigHoldReason, PinsInPlace } from '@tranche/config'

/** What a pass did for the config of its DaemonSet. */
export type PinResult =
  /** It wrote something, or lost a race: the template may change next, so no release may begin before it is read again, after this delay. */
  | { readonly kind: 'wrote'; readonly againInMs: number }
  /** Config cannot be pinned: the release holds. */
  | { readonly kind: 'held'; readonly reason: ConfigHoldReason; readonly why: string }
  /** The template names copies of all its config, or a rollback took them away, or there is no release to pin it for. */
  | (PinsInPlace & { readonly kind: 'pinned' })
  /** The API server has not answered yet. The attempt continues, and another call after this delay learns its result. */
  | { readonly kind: 'pending'; readonly againInMs: number }

/** A result with the milliseconds after which it should be asked for again without a change; undefined: never. */
export type TimedPinResult = PinResult & { readonly recheckAfterMs?: number | undefined }
