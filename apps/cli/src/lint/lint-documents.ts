import { valueIn } from '@tranche/kube-types'
import { type Advice, checkDocuments, type Problem, type Surroundings } from '@tranche/validation'
import type { SourceDocument } from './read-documents.ts'

/** Location and identity of a document; undefined for missing fields. */
export interface DocumentIdentity {
  readonly source: string
  readonly index: number
  readonly line: number
  readonly apiVersion: string | undefined
  readonly kind: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
}

/** One finding, as `-o json` prints it. */
export interface LintFinding {
  readonly document: DocumentIdentity
  /** Problems fail the command; advice does not. */
  readonly level: 'problem' | 'advice'
  /** Code of the rule, as in docs/reference/validation.md. */
  readonly rule: string
  readonly path: string
  /** Undefined if the field is missing. */
  readonly value: unknown
  readonly message: string
  readonly fix: string
}

/** Findings of all documents. */
export interface LintResult {
  /** In document order; problems of a document before its advice. */
  readonly findings: readonly LintFinding[]
  /** Number of documents, and of those whose kind has rules. */
  readonly documents: number
  readonly judged: number
  /** Config that policies among the documents pin, which needs no finding. */
  readonly pinned: readonly PinnedIn[]
}

/** Config of one document that a policy pins. */
export interface PinnedIn {
  readonly document: DocumentIdentity
  /** Name of the ReleasePolicy. */
  readonly policy: string
  /** `ConfigMap agent`. */
  readonly objects: readonly string[]
}

/** Finding for a file without documents: without it, an empty file would look valid. */
export function nothingFound(source: string): LintFinding {
  const document = { source, index: 1, line: 1, apiVersion: undefined, kind: undefined, namespace: undefined, name: undefined }
  const fix = 'add a document, or check the program that writes the file'
  return { document, level: 'problem', rule: 'Syntax', path: 'the document', value: undefined, message: 'it is empty', fix }
}

/** Checks documents that will be applied together. */
export function lintDocuments(documents: readonly SourceDocument[], surroundings: Surroundings = {}): LintResult {
  const values = documents.map(({ content }) => (content.kind === 'value' ? content.value : null))
  const checked = checkDocuments(values, surroundings)
  const findings = documents.flatMap((document, at) => {
    const identity = identityOf(document)
    const { problems = [], advice = [] } = checked[at] ?? {}
    return [
      ...unreadable(document, identity),
      ...problems.map((problem) => toFinding(identity, 'problem', problem)),
      ...advice.map((one) => toFinding(identity, 'advice', one)),
    ]
  })
  const pinned = documents.flatMap((document, at): readonly PinnedIn[] => {
    const found = checked[at]?.pinned
    if (found === undefined) return []
    return [{ document: identityOf(document), policy: found.policy, objects: found.pinned.map(({ kind, name }) => `${kind} ${name}`) }]
  })
  return { findings, pinned, documents: documents.length, judged: checked.filter(({ judged }) => judged).length }
}

function unreadable({ content }: SourceDocument, document: DocumentIdentity): readonly LintFinding[] {
  if (content.kind === 'value') return []
  const fix = 'write YAML or JSON, with --- between two documents'
  return [
    {
      document,
      level: 'problem',
      rule: 'Syntax',
      path: 'the document',
      value: undefined,
      message: `it cannot be read: ${content.why}`,
      fix,
    },
  ]
}

function toFinding(
  document: DocumentIdentity,
  level: LintFinding['level'],
  { rule, path, value, message, fix }: Problem | Advice,
): LintFinding {
  return { document, level, rule, path, value, message, fix }
}

function identityOf({ source, index, line, content }: SourceDocument): DocumentIdentity {
  const value = content.kind === 'value' ? content.value : null
  const metadata = memberOf(value, 'metadata')
  const text = (of: unknown, name: string): string | undefined => {
    const member = memberOf(of, name)
    return typeof member === 'string' ? member : undefined
  }
  return {
    source,
    index,
    line,
    apiVersion: text(value, 'apiVersion'),
    kind: text(value, 'kind'),
    namespace: text(metadata, 'namespace'),
    name: text(metadata, 'name'),
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' ? valueIn(value as Readonly<Record<string, unknown>> | null, name) : undefined
}
