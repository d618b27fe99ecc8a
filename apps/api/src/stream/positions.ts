import { compareResourceVersions } from '@tranche/kube-types'

/** Resource version that each watch has reached, in a fixed order; `''` before its initial list. */
export type Positions = readonly string[]

/** State of a reader: everything up to `positions` that is visible with the rights of `digest`. */
export interface Known {
  readonly positions: Positions
  /** @see StreamRights.digest */
  readonly digest: string
}

/**
 * @returns the id of a stream event. From it, any replica can determine what the reader has missed, and whether its rights have
 * changed.
 */
export function toEventId({ digest, positions }: Known): string {
  return [digest, ...positions.map((position) => (position === '' ? '0' : position))].join('.')
}

/** @returns null if the id is malformed or has another number of watches */
export function fromEventId(id: string, watches: number): Known | null {
  const [digest = '', ...positions] = id.split('.')
  if (!/^[0-9a-f]{16}$/.test(digest) || positions.length !== watches) return null
  return positions.every((part) => /^(0|[1-9]\d{0,19})$/.test(part)) ? { digest, positions } : null
}

/** @returns whether some watch of `positions` is ahead of the same watch of `others` */
export function isBeyond(positions: Positions, others: Positions): boolean {
  return positions.some((position, at) => compareResourceVersions(position || '0', others[at] || '0') > 0)
}
