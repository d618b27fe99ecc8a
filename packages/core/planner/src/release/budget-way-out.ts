import type { Wanted } from './progress/wanted-allowance.ts'

/**
 * Text about the end of a wait for a budget that is used up, where the names of the nodes that are down do not say it. Too many may be dead,
 * so that all of them count. More may be down than the limit allows, for instance after it was lowered. Begins with a semicolon; else empty.
 */
export function budgetWayOut(wanted: Wanted & { kind: 'allow' }): string {
  const { unavailable, exemption } = wanted.progress
  const { limit } = wanted.allowance
  const down = unavailable.length
  const raise = `maxUnavailable is at least ${down + 1}`
  const { dead, most } = exemption
  if (dead.length > most) {
    const others = down - dead.length
    if (others >= limit) return `; it continues once fewer than ${limit} others are down and ${deadText(most)}, or ${raise}`
    const fewer = deadText(Math.max(most, limit - 1 - others))
    return `; it continues once ${fewer}, nodes.notReady.exempt is at least ${dead.length}, or ${raise}`
  }
  return down > limit ? `; nothing is deleted until fewer than ${limit} are down, or ${raise}` : ''
}

function deadText(most: number): string {
  return most === 0 ? 'no node is dead' : `no more than ${most} ${most === 1 ? 'is' : 'are'} dead`
}
