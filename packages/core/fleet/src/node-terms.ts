import {
  type LabelRequirements,
  type Labels,
  type LabelSelectorRequirement,
  meetsRequirements,
  type NodeSelectorTerm,
  readRequirements,
} from '@tranche/kube-types'
import type { NodeForPlacement } from './eligibility.ts'
import { indexTerms } from './term-index.ts'

type Matches = (node: NodeForPlacement) => boolean

/**
 * Reads the terms of a required node affinity, of which one must match. An empty term matches no node; an invalid term is skipped. Many are
 * indexed.
 */
export function readTerms(terms: readonly NodeSelectorTerm[]): Matches {
  const read = terms.map(readTerm).filter((term) => term !== null)
  if (read.length <= FEW) return ({ metadata }) => read.some((term) => isMet(term, metadata))
  const isOneMet = indexTerms(read.map(({ ofLabels, ofName }) => [ofLabels, ofName].filter((one) => one !== null)))
  return ({ metadata: { name, labels } }) => isOneMet({ ...labels, [NAME]: name })
}

/** A term, by what it is about; null: nothing. */
interface Term {
  readonly ofLabels: LabelRequirements | null
  readonly ofName: LabelRequirements | null
}

/** Number of terms up to which each node is compared with all of them. */
const FEW = 16

/** Name of a node, as a key beside its labels: none of these ends in a dot. */
const NAME = 'metadata.name.'
const NO_LABELS: Labels = {}

function readTerm(term: NodeSelectorTerm): Term | null {
  const [expressions, fields] = [term.matchExpressions ?? [], term.matchFields ?? []]
  if ((expressions.length === 0 && fields.length === 0) || !fields.every(isNameTest)) return null
  const ofLabels = expressions.length === 0 ? null : readRequirements(expressions, 'with Gt and Lt')
  if (ofLabels === null && expressions.length > 0) return null
  return {
    ofLabels,
    ofName:
      fields.length === 0
        ? null
        : readRequirements(
            fields.map((field) => ({ ...field, key: NAME })),
            'without Gt and Lt',
          ),
  }
}

function isNameTest({ key, operator, values }: LabelSelectorRequirement): boolean {
  return key === 'metadata.name' && values?.length === 1 && (operator === 'In' || operator === 'NotIn')
}

function isMet({ ofLabels, ofName }: Term, { name, labels = NO_LABELS }: NodeForPlacement['metadata']): boolean {
  if (ofLabels !== null && !meetsRequirements(ofLabels, labels)) return false
  return ofName === null || meetsRequirements(ofName, { [NAME]: name })
}
