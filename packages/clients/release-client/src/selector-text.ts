import type { LabelSelector } from '@tranche/kube-types'

/** A selector as kubectl's `-l` takes it; empty, which selects everything, where there is none. */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}): string {
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  const expressions = matchExpressions.map(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return key
    if (operator === 'DoesNotExist') return `!${key}`
    return `${key} ${operator === 'NotIn' ? 'notin' : 'in'} (${values.join(',')})`
  })
  return [...labels, ...expressions].join(',')
}
