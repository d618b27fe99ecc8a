import { compareResourceVersions } from '@tranche/kube-types'

/** How far each watch has seen, in an order that never changes. Empty before the first list. */
export type Positions = readonly string[]

/** @returns the id that an event carries: another replica, with watches of its own, can tell from it what its reader lacks */
export function toEventId(positions: Positions): string {
  return positions.map((position) => (position === '' ? '0' : position)).join('.')
}

/** @returns null for what is no id of ours */
export function fromEventId(id: string, watches: number): Positions | null {
  const parts = id.split('.')
  return parts.length === watches && parts.every((part) => /^(0|[1-9]\d{0,19})$/.test(part)) ? parts : null
}

/** @returns whether some watch of `positions` has seen more than the same of `others` */
export function isBeyond(positions: Positions, others: Positions): boolean {
  return positions.some((position, at) => compareResourceVersions(position || '0', others[at] || '0') > 0)
}
