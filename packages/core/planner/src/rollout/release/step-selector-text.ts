import type { NodeSelector } from '@tranche/api-schema'

/** @returns the selector of a step as users write it: `pool=staging, zone In a,b`; empty for one that selects every node */
export function stepSelectorText({ matchLabels = {}, matchExpressions = [] }: NodeSelector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => `${key} ${operator} ${values.join(',')}`.trim())
  return [...labels, ...expressions].join(', ')
}
