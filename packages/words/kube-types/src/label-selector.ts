import { type Labels, meetsRequirements, readRequirements } from './label-requirements.ts'
import type { LabelSelector } from './objects.ts'
import { valueIn } from './value-in.ts'

type Selects = (labels: Labels) => boolean

/**
 * Evaluates a label selector as Kubernetes does: every requirement must hold, and an empty selector selects every object. `NotIn` also
 * selects objects without the label. A selector is read once, and compared in as many steps as an object has labels.
 *
 * @returns whether the labels are selected; null for a selector that the API server would reject: an unknown operator, `In` or `NotIn`
 *   without values, `Exists` or `DoesNotExist` with values
 * @see k8s.io/apimachinery/pkg/apis/meta/v1 LabelSelectorAsSelector
 */
export function parseLabelSelector(selector: LabelSelector): Selects | null {
  const known = parsed.get(selector)
  if (known !== undefined) return known
  const selects = parse(selector)
  parsed.set(selector, selects)
  return selects
}

const parsed = new WeakMap<LabelSelector, Selects | null>()

function parse({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Selects | null {
  const equal = Object.entries(matchLabels)
  const hasLabels: Selects = (labels) => equal.every(([key, value]) => valueIn(labels, key) === value)
  if (matchExpressions.length === 0) return hasLabels
  const requirements = readRequirements(matchExpressions, 'without Gt and Lt')
  return requirements && ((labels) => hasLabels(labels) && meetsRequirements(requirements, labels))
}
