import type { LabelSelectorRequirement } from './objects.ts'
import { valueIn } from './value-in.ts'

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>

/** What all requirements on one label ask of it. */
export interface ValueRule {
  readonly key: string
  /** Whether the label must be there. */
  readonly isNeeded: boolean
  /** Whether the label must be absent. */
  readonly isForbidden: boolean
  /** Values of which the label must have one; undefined: any. */
  readonly allowed: LabelValues | undefined
  /** Values that the label must not have; undefined: none. */
  readonly refused: LabelValues | undefined
  /** The value must be a whole number above this one; undefined: no limit. */
  readonly above: bigint | undefined
  /** The value must be a whole number below this one; undefined: no limit. */
  readonly below: bigint | undefined
}

/** Values of a label: a list of few, or a set. */
type LabelValues = readonly string[] | ReadonlySet<string>

/** Requirements that must all hold, read once by {@link readRequirements}. */
export interface LabelRequirements {
  /** The first of them that an object does not meet ends the comparison, and it meets no more than it has labels. */
  readonly needed: readonly ValueRule[]
  /** Rules that hold where the label is missing. */
  readonly others: readonly ValueRule[]
  /** The same, by label; undefined if there are few. */
  readonly othersByKey: ReadonlyMap<string, ValueRule> | undefined
}

/** Operators that node selectors have in addition to those of label selectors. */
type NumberOperators = 'with Gt and Lt' | 'without Gt and Lt'

/**
 * Reads requirements. `NotIn` also holds without the label. Kubernetes rejects an unknown operator, `In` or `NotIn` without values, and `Exists`
 * or `DoesNotExist` with values. `Gt` and `Lt` need one value, a whole number of 64 bits.
 *
 * @returns null if Kubernetes would reject one
 * @see k8s.io/apimachinery/pkg/labels NewRequirement
 */
export function readRequirements(requirements: readonly LabelSelectorRequirement[], numbers: NumberOperators): LabelRequirements | null {
  if (!requirements.every((one) => isValid(one, numbers))) return null
  const rules = new Map<string, ValueRule>()
  for (const one of requirements) rules.set(one.key, narrowed(rules.get(one.key), one))
  const needed = [...rules.values()].filter(({ isNeeded }) => isNeeded)
  const others = needed.length === rules.size ? NONE : [...rules.values()].filter(({ isNeeded }) => !isNeeded)
  return { needed, others, othersByKey: others.length > FEW ? new Map(others.map((rule) => [rule.key, rule])) : undefined }
}

/** Whether labels meet all requirements. Takes about as many steps as there are labels, however many requirements there are. */
export function meetsRequirements({ needed, others, othersByKey }: LabelRequirements, labels: Labels): boolean {
  if (!needed.every((rule) => meetsRule(rule, valueIn(labels, rule.key)))) return false
  if (othersByKey === undefined) return others.every((rule) => meetsRule(rule, valueIn(labels, rule.key)))
  return Object.keys(labels).every((key) => {
    const rule = othersByKey.get(key)
    return rule === undefined || meetsRule(rule, valueIn(labels, key))
  })
}

/** Whether the value is one of these. */
function includesValue(values: LabelValues, value: string): boolean {
  return Array.isArray(values) ? values.includes(value) : (values as ReadonlySet<string>).has(value)
}

/** Number of rules, or values, up to which all are compared with an object one by one. */
const FEW = 16
const NONE: readonly ValueRule[] = []

/** Digits of the largest number of 64 bits. */
const MOST_DIGITS = 19

/** @returns the whole number that a text contains; undefined for another text, and for a number of more than 64 bits. @see strconv.ParseInt */
function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const digits = text.replace(/^[+-]?0*(?=\d)/, '')
  if (digits.length > MOST_DIGITS) return undefined
  const number = text.startsWith('-') ? -BigInt(digits) : BigInt(digits)
  return BigInt.asIntN(64, number) === number ? number : undefined
}

function isValid(requirement: LabelSelectorRequirement, numbers: NumberOperators): boolean {
  const values = requirement.values ?? []
  switch (requirement.operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
    case 'Gt':
    case 'Lt':
      return numbers === 'with Gt and Lt' && values.length === 1 && parseInt64(values[0]!) !== undefined
    default:
      return false
  }
}

/** @param rule what earlier requirements ask of the label; undefined without one */
function narrowed(rule: ValueRule | undefined, { key, operator, values }: LabelSelectorRequirement): ValueRule {
  const { isNeeded = false, isForbidden = false, allowed, refused, above, below } = rule ?? {}
  const than = operator === 'Gt' || operator === 'Lt' ? parseInt64(values?.[0] ?? '') : undefined
  return {
    key,
    isNeeded: isNeeded || (operator !== 'NotIn' && operator !== 'DoesNotExist'),
    isForbidden: isForbidden || operator === 'DoesNotExist',
    allowed: operator === 'In' ? bothOf(allowed, values ?? []) : allowed,
    refused: operator === 'NotIn' ? joined(refused, values ?? []) : refused,
    above: operator === 'Gt' && (above === undefined || above < than!) ? than : above,
    below: operator === 'Lt' && (below === undefined || below > than!) ? than : below,
  }
}

function bothOf(known: LabelValues | undefined, values: readonly string[]): LabelValues {
  return lookedUp(known === undefined ? values : values.filter((value) => includesValue(known, value)))
}

/** Adds to a set that earlier requirements made: twenty thousand of one value each would copy it as often. */
function joined(known: LabelValues | undefined, values: readonly string[]): LabelValues {
  if (known === undefined) return lookedUp(values)
  if (Array.isArray(known)) return lookedUp([...(known as readonly string[]), ...values])
  const set = known as Set<string>
  for (const value of values) set.add(value)
  return set
}

function lookedUp(values: readonly string[]): LabelValues {
  return values.length <= FEW ? values : new Set(values)
}

/** @param value undefined without the label @returns whether a label meets the rule */
export function meetsRule({ isNeeded, isForbidden, allowed, refused, above, below }: ValueRule, value: string | undefined): boolean {
  if (value === undefined) return !isNeeded
  if (isForbidden || (allowed !== undefined && !includesValue(allowed, value))) return false
  if (refused !== undefined && includesValue(refused, value)) return false
  if (above === undefined && below === undefined) return true
  const number = parseInt64(value)
  return number !== undefined && (above === undefined || number > above) && (below === undefined || number < below)
}
