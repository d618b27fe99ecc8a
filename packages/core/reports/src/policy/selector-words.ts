import type { NodeSelector } from '@tranche/api-schema'

/** @returns a node selector as text: `disk=ssd, zone in (a, b), without spot`; `any labels` for an empty one */
export function selectorWords({ matchLabels = {}, matchExpressions = [] }: NodeSelector): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return `the label ${key}`
    if (operator === 'DoesNotExist') return `no label ${key}`
    return `${key} ${operator === 'NotIn' ? 'not in' : 'in'} (${values.join(', ')})`
  })
  return [...labels, ...expressions].join(', ') || 'any labels'
}
