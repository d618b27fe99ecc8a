import type { Rollout } from '@tranche/api-schema'

/**
 * Why a forecast release stops, as a sentence. The status names commands, but this release does not exist yet: of a failure, only what
 * failed is repeated.
 */
export function stopText({ status }: Pick<Rollout, 'status'>): string {
  const { stops = false, message = '' } = status?.failure ?? {}
  return sentence(stops && message !== '' ? message : (status?.message ?? ''))
}

/** The text with a capital letter, unless it begins with the name of an object or a field. */
export function sentence(text: string): string {
  return /^[a-z]+[ :]/.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text
}
