import type { Random } from '@tranche/sim-api'

/** @returns one of the list, each as often as any other */
export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.integer(list.length)]!
}

/** @returns a whole number from `from` up to, not with, `to` */
export function between(random: Random, from: number, to: number): number {
  return from + random.integer(to - from)
}

/** Short ones as often as long ones: drawn by order of magnitude, from 50 ms. */
export function duration(random: Random, mostMs: number): number {
  return Math.round(50 * (mostMs / 50) ** random.next())
}
