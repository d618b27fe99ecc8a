import type { KubeObject } from '@tranche/kube-types'
import type { Random } from '@tranche/sim-api'

/** @returns one of the list, each as often as any other */
export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.integer(list.length)]!
}

/** @returns a whole number from `from` up to `to`, excluding `to` */
export function between(random: Random, from: number, to: number): number {
  return from + random.integer(to - from)
}

/** Logarithmic from 50 ms: short durations are as frequent as long ones. */
export function duration(random: Random, mostMs: number): number {
  return Math.round(50 * (mostMs / 50) ** random.next())
}

/** @returns one of the objects, by name; undefined without any */
export function pickByName<T extends KubeObject>(items: readonly T[], at: number): T | undefined {
  const sorted = items.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  return sorted[at % Math.max(1, sorted.length)]
}
