import { compareResourceVersions } from '@tranche/kube-types'

/** How far each watch has seen, in an order that never changes. Empty before the first list. */
export type Positions = readonly string[]

/** What a reader knows: everything up to `positions` of what somebody with these rights may see. */
export interface Known {
  readonly positions: Positions
  /** @see StreamRights.digest */
  readonly digest: string
}

/**
 * @returns the id that an event carries: another replica, with watches of its own, can tell from it what its reader lacks, and whether
 * they might see then what they may see now
 */
export function toEventId({ digest, positions }: Known): string {
  return [digest, ...positions.map((position) => (position === '' ? '0' : position))].join('.')
}

/** @returns null for what is no id of ours */
export function fromEventId(id: string, watches: number): Known | null {
  const [digest = '', ...positions] = id.split('.')
  if (!/^[0-9a-f]{16}$/.test(digest) || positions.length !== watches) return null
  return positions.every((part) => /^(0|[1-9]\d{0,19})$/.test(part)) ? { digest, positions } : null
}

/** @returns whether some watch of `positions` has seen more than the same of `others` */
export function isBeyond(positions: Positions, others: Positions): boolean {
  return positions.some((position, at) => compareResourceVersions(position || '0', others[at] || '0') > 0)
}
