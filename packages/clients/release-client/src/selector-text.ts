import type { LabelSelector } from '@tranche/kube-types'

/** Formats a selector for kubectl's `-l`; empty without a selector, which selects everything. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'NotIn' ? 'notin' : 'in'} (${values.join(',')})`
  })
  return [...labels, ...expressions].join(',')
}
