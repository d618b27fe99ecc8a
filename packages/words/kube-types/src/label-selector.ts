import type { LabelSelector, LabelSelectorRequirement } from './objects.ts'

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>

/**
 * Evaluates a label selector as Kubernetes does: every requirement must hold, and an empty selector selects every object. `NotIn` also
 * selects objects without the label.
 *
 * @returns whether the labels are selected; null for a selector that the API server would reject: an unknown operator, `In` or `NotIn`
 *   without values, `Exists` or `DoesNotExist` with values
 * @see k8s.io/apimachinery/pkg/apis/meta/v1 LabelSelectorAsSelector
 */
export function parseLabelSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector): ((labels: Labels) => boolean) | null {
  const equal = Object.entries(matchLabels)
  if (!matchExpressions.every(isValid)) return null
  return (labels) => equal.every(([key, value]) => labels[key] === value) && matchExpressions.every((one) => holds(one, labels[one.key]))
}

function isValid({ operator, values = [] }: LabelSelectorRequirement): boolean {
  if (operator === 'In' || operator === 'NotIn') return values.length > 0
  return (operator === 'Exists' || operator === 'DoesNotExist') && values.length === 0
}

function holds({ operator, values = [] }: LabelSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && isOneOf(values, value)
    case 'NotIn':
      return value === undefined || !isOneOf(values, value)
    case 'Exists':
      return value !== undefined
    default:
      return value === undefined
  }
}

/** Number of values above which they are looked up in a set: a selector may name a thousand nodes, and is compared with each. */
const FEW_VALUES = 16
const sets = new WeakMap<readonly string[], ReadonlySet<string>>()

function isOneOf(values: readonly string[], value: string): boolean {
  if (values.length <= FEW_VALUES) return values.includes(value)
  const known = sets.get(values) ?? new Set(values)
  sets.set(values, known)
  return known.has(value)
}
