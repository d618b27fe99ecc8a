import type { ManifestFinding, ValidateAnswer } from '@tranche/api-schema'
import { type ManifestDocument, readManifests } from '@tranche/manifests'
import { type Advice, checkDocuments, type Problem } from '@tranche/validation'
import { clipText } from '@tranche/kube-types'

type Content = ManifestDocument['content']

/** Checks manifests as `tranche lint` does. Synchronous: the time grows with the length. */
export function validateManifests(manifests: string): ValidateAnswer {
  const contents = readManifests(manifests).map(({ content }) => content)
  const findings = checkDocuments(contents.map((content) => (content.kind === 'value' ? content.value : null)))
  const problems = contents.flatMap((content, at) => [
    ...unreadable(content, at),
    ...(findings[at]?.problems ?? []).map((problem) => toFinding(content, at, problem)),
  ])
  if (contents.length === 0) problems.push(empty)
  const advice = contents.flatMap((content, at) => (findings[at]?.advice ?? []).map((one) => toFinding(content, at, one)))
  return { valid: problems.length === 0, problems: firstFindings(problems), advice: firstFindings(advice) }
}

/** Maximum number of findings in an answer: a text of a megabyte may hold twenty thousand documents, each with several. */
const MOST_LISTED = 1_000
/** Maximum characters of the kind and name of a document, which each of its findings repeats. */
const LONGEST_OBJECT = 400

/** @returns the first findings, and one that says that there are more, at the document of the first that is left out */
function firstFindings(findings: readonly ManifestFinding[]): readonly ManifestFinding[] {
  const next = findings[MOST_LISTED]
  if (next === undefined) return findings
  const message = `an answer lists ${MOST_LISTED} findings; this and later documents have ${findings.length - MOST_LISTED} more`
  const fix = 'correct the documents before, or send fewer documents at a time'
  const more = { document: next.document, object: next.object, rule: 'MoreProblems', path: 'the document', message, fix }
  return [...findings.slice(0, MOST_LISTED), more]
}

/** Problem for empty input: without it, an empty file would be valid. */
const empty: ManifestFinding = {
  document: 1,
  object: '',
  rule: 'Syntax',
  path: 'the document',
  message: 'it is empty',
  fix: 'write a document in YAML or JSON',
}

function unreadable(content: Content, at: number): readonly ManifestFinding[] {
  if (content.kind === 'value') return []
  const fix = 'write YAML or JSON, with --- between two documents'
  return [{ document: at + 1, object: '', rule: 'Syntax', path: 'the document', message: `it cannot be read: ${content.why}`, fix }]
}

function toFinding(content: Content, at: number, { rule, path, value, message, fix }: Problem | Advice): ManifestFinding {
  return { document: at + 1, object: objectText(content), rule, path, message, fix, ...(value !== undefined && { value }) }
}

function objectText(content: Content): string {
  const { kind, metadata } = (content.kind === 'value' ? (content.value ?? {}) : {}) as {
    readonly kind?: unknown
    readonly metadata?: { readonly name?: unknown } | null
  }
  return clipText([kind, metadata?.name].filter((part) => typeof part === 'string').join('/'), LONGEST_OBJECT)
}
