import { type LabelRequirements, type Labels, meetsRule, type ValueRule, valueIn } from '@tranche/kube-types'

/** Set of terms, one bit each. */
type Bits = Uint32Array

/** A term, and what it asks of a label. */
type TermRule = readonly [term: number, rule: ValueRule]

/** The rules on a label that nodes have. */
interface LabelIndex {
  readonly rules: ReadonlyMap<number, ValueRule>
  /** Terms that a node misses where no term names its value. */
  readonly missed: Bits
  /** Terms that name a value. */
  readonly named: ReadonlyMap<string, readonly number[]>
  /** Terms that compare the value as a number. */
  readonly numbers: readonly number[]
  /** Terms that a node misses, for values that many terms are about. */
  readonly missedBy: Map<string, Bits>
}

/** Maximum number of results that are kept for values, and for sets of labels that nodes have. */
const MOST_KEPT = 256

/**
 * Index of many terms: a tenant may write twenty thousand, and name each node in them. Instead of each term, it looks at each label of a node,
 * and joins the terms that the node misses, 32 at a time.
 *
 * @param terms lists of requirements; a term is met where all of its lists are
 * @returns whether a node with these labels meets one of the terms
 */
export function indexTerms(terms: readonly (readonly LabelRequirements[])[]): (labels: Labels) => boolean {
  const words = Math.ceil(terms.length / 32)
  const byLabel = rulesByLabel(terms)
  const indexes = new Map<string, LabelIndex>()
  const withoutLabels = new Map<string, Bits>()

  function missedWithout(present: readonly string[]): Bits {
    const key = JSON.stringify(present)
    const known = withoutLabels.get(key)
    if (known !== undefined) return known
    const missed = new Uint32Array(words)
    for (let bit = terms.length; bit < words * 32; bit++) setBit(missed, bit, true)
    const others = new Set(present)
    for (const [label, rules] of byLabel)
      if (!others.has(label)) for (const [term, { isNeeded }] of rules) if (isNeeded) setBit(missed, term, true)
    keep(withoutLabels, key, missed)
    return missed
  }

  function indexOf(label: string): LabelIndex {
    const index = indexes.get(label) ?? toIndex(byLabel.get(label) ?? [], words)
    indexes.set(label, index)
    return index
  }

  return (labels) => {
    const present = Object.keys(labels).filter((label) => byLabel.has(label))
    const missed = missedWithout(present).slice()
    for (const label of present) {
      const more = missedFor(indexOf(label), valueIn(labels, label)!)
      for (let word = 0; word < words; word++) missed[word]! |= more[word]!
    }
    return missed.some((word) => word !== EVERY)
  }
}

const EVERY = 0xffff_ffff

function rulesByLabel(terms: readonly (readonly LabelRequirements[])[]): ReadonlyMap<string, readonly TermRule[]> {
  const byLabel = new Map<string, TermRule[]>()
  for (const [term, lists] of terms.entries())
    for (const { needed, others } of lists)
      for (const rule of [...needed, ...others]) {
        const rules = byLabel.get(rule.key)
        if (rules === undefined) byLabel.set(rule.key, [[term, rule]])
        else rules.push([term, rule])
      }
  return byLabel
}

function toIndex(rules: readonly TermRule[], words: number): LabelIndex {
  const missed = new Uint32Array(words)
  const named = new Map<string, number[]>()
  const numbers: number[] = []
  for (const [term, { isForbidden, allowed, refused = [], above, below }] of rules) {
    const isNumber = above !== undefined || below !== undefined
    if (isNumber) numbers.push(term)
    if (isNumber || isForbidden || allowed !== undefined) setBit(missed, term, true)
    for (const value of new Set([...(allowed ?? []), ...refused])) {
      const terms = named.get(value)
      if (terms === undefined) named.set(value, [term])
      else terms.push(term)
    }
  }
  return { rules: new Map(rules), missed, named, numbers, missedBy: new Map() }
}

/** @returns the terms that a node misses because of the value of one label */
function missedFor({ rules, missed, named, numbers, missedBy }: LabelIndex, value: string): Bits {
  const known = missedBy.get(value)
  if (known !== undefined) return known
  const about = [...(named.get(value) ?? []), ...(/^[+-]?\d+$/.test(value) ? numbers : [])]
  if (about.length === 0) return missed
  const result = missed.slice()
  for (const term of about) setBit(result, term, !meetsRule(rules.get(term)!, value))
  // Few values can be named by many terms.
  if (about.length > result.length) keep(missedBy, value, result)
  return result
}

function setBit(bits: Bits, at: number, isSet: boolean): void {
  const mask = 1 << (at & 31)
  if (isSet) bits[at >> 5]! |= mask
  else bits[at >> 5]! &= ~mask
}

function keep(kept: Map<string, Bits>, key: string, bits: Bits): void {
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(key, bits)
}
