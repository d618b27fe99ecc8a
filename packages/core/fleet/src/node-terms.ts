import {
  type LabelRequirements,
  type Labels,
  type LabelSelectorRequirement,
  meetsRequirements,
  type NodeSelectorTerm,
  readRequirements,
} from '@tranche/kube-types'
import type { NodeForPlacement } from './eligibility.ts'

type Matches = (node: NodeForPlacement) => boolean

/**
 * Reads the terms of a required node affinity, of which one must match. An empty term matches no node; an invalid term is skipped. A tenant
 * may write thousands of terms, so their result is kept for nodes whose labels have the same {@link groupOf}.
 */
export function readTerms(terms: readonly NodeSelectorTerm[]): Matches {
  const read = terms.map(readTerm).filter((term) => term !== null)
  const matches: Matches = ({ metadata }) => read.some((term) => isMet(term, metadata))
  return read.length <= FEW ? matches : kept(matches, read)
}

/** A term, by what it is about; null: nothing. */
interface Term {
  readonly ofLabels: LabelRequirements | null
  readonly ofName: LabelRequirements | null
}

/** Number of terms up to which each node is compared with all of them. */
const FEW = 16

/** Maximum number of groups of nodes whose result is kept. */
const MOST_GROUPS = 1_000

const NAME = 'metadata.name'
const NO_LABELS: Labels = {}

function readTerm(term: NodeSelectorTerm): Term | null {
  const [expressions, fields] = [term.matchExpressions ?? [], term.matchFields ?? []]
  if ((expressions.length === 0 && fields.length === 0) || !fields.every(isNameTest)) return null
  const ofLabels = expressions.length === 0 ? null : readRequirements(expressions, 'with Gt and Lt')
  if (ofLabels === null && expressions.length > 0) return null
  return { ofLabels, ofName: fields.length === 0 ? null : readRequirements(fields, 'without Gt and Lt') }
}

function isNameTest({ key, operator, values }: LabelSelectorRequirement): boolean {
  return key === NAME && values?.length === 1 && (operator === 'In' || operator === 'NotIn')
}

function isMet({ ofLabels, ofName }: Term, { name, labels = NO_LABELS }: NodeForPlacement['metadata']): boolean {
  if (ofLabels !== null && !meetsRequirements(ofLabels, labels)) return false
  return ofName === null || meetsRequirements(ofName, { [NAME]: name })
}

/** Keeps the result for each {@link groupOf}. */
function kept(matches: Matches, terms: readonly Term[]): Matches {
  const named = namedIn(terms)
  const results = new Map<string, boolean>()
  return (node) => {
    const { name, labels = NO_LABELS } = node.metadata
    const group = JSON.stringify([groupOf({ [NAME]: name }, named.names), groupOf(labels, named.labels)])
    const known = results.get(group)
    if (known !== undefined) return known
    if (results.size >= MOST_GROUPS) results.clear()
    const result = matches(node)
    results.set(group, result)
    return result
  }
}

/** Values of a label that terms name. */
interface NamedValues {
  readonly values: Set<string>
  /** Whether terms compare it as a number, so that each number may have its own result. */
  readonly areNumbers: boolean
}

type Named = Map<string, NamedValues>

function namedIn(terms: readonly Term[]): { readonly labels: Named; readonly names: Named } {
  const named = { labels: new Map<string, NamedValues>(), names: new Map<string, NamedValues>() }
  for (const { ofLabels, ofName } of terms) {
    if (ofLabels !== null) addNamed(named.labels, ofLabels)
    if (ofName !== null) addNamed(named.names, ofName)
  }
  return named
}

function addNamed(named: Named, { needed, others }: LabelRequirements): void {
  for (const { key, allowed = [], refused = [], above, below } of [...needed, ...others]) {
    const { values, areNumbers } = named.get(key) ?? { values: new Set<string>(), areNumbers: false }
    named.set(key, { values, areNumbers: areNumbers || above !== undefined || below !== undefined })
    for (const value of allowed) values.add(value)
    for (const value of refused) values.add(value)
  }
}

/** Names and values of the labels that terms name; 0 instead of a value that no term mentions. */
function groupOf(labels: Labels, named: Named): readonly (string | number)[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const known = named.get(key)
    if (known === undefined) return []
    return [key, known.values.has(value) || (known.areNumbers && /^[+-]?\d+$/.test(value)) ? value : 0]
  })
}
