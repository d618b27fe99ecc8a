import type { ManifestFinding, ValidateAnswer } from '@tranche/api-schema'
import { type ManifestDocument, readManifests } from '@tranche/manifests'
import { type Advice, checkDocuments, type Problem } from '@tranche/validation'

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
  return { valid: problems.length === 0, problems, advice }
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
  return [kind, metadata?.name].filter((part) => typeof part === 'string').join('/')
}
