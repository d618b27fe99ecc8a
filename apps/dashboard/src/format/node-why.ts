import type { NodeReport } from '@tranche/api-schema'

/** @returns why a node is in its state, and whether it costs budget; undefined if there is nothing to say */
export function nodeWhy({ why, budget }: Pick<NodeReport, 'why' | 'budget'>): string | undefined {
  const parts = [why, budget?.message].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join('; ')
}
