import { type SimFaults, simFaultsSchema } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { boundFault } from '@tranche/manifests'
import { LineCounter, parseDocument } from 'yaml'

/** One error in a fault document. */
export interface FaultFinding {
  /** Path in the document: `faults[2].for`; empty for the whole document. */
  readonly path: string
  /** Offending value as JSON; absent when there is none. */
  readonly value?: string
  /** Fix, in the imperative. */
  readonly fix: string
}

/** Maximum length of a document, in bytes of UTF-8. */
export const DOCUMENT_MAX_BYTES = 256 * 1024

/**
 * Parses a fault document from YAML or JSON.
 *
 * @returns document, or all errors in it (≥ 1 finding)
 */
export function parseFaults(
  text: string,
): { readonly kind: 'faults'; readonly faults: SimFaults } | { readonly kind: 'invalid'; readonly findings: readonly FaultFinding[] } {
  const read = readYaml(text)
  if ('findings' in read) return { kind: 'invalid', findings: read.findings }
  const parsed = simFaultsSchema.safeParse(read.value)
  if (parsed.success) return { kind: 'faults', faults: parsed.data }
  return { kind: 'invalid', findings: parsed.error.issues.flatMap((issue) => toFindings(issue, read.value)) }
}

/** @returns error with all `findings` about `source`, one per line when there are several */
export function faultsInvalid(source: string, findings: readonly FaultFinding[]): AppError {
  const [first, ...others] = findings
  const listed = findings.slice(0, MOST_LISTED).map((finding) => `\n  ${findingText(finding)}`)
  const rest = findings.length > MOST_LISTED ? `\n  and ${findings.length - MOST_LISTED} more` : ''
  const message =
    others.length === 0 && first !== undefined
      ? `${source}: ${findingText(first)}`
      : `${source}:${listed.join('')}${rest}\n  no fault is applied`
  return new AppError('FAULTS_INVALID', message, { details: { source, path: first?.path ?? '' } })
}

const MOST_LISTED = 10

/** @returns finding in one line: path, value, fix */
export function findingText({ path, value, fix }: FaultFinding): string {
  const place = path === '' ? 'the document' : path
  return `${place}${value === undefined ? ' is missing' : ` does not take ${value}`}: ${fix}`
}

function readYaml(text: string): { readonly value: unknown } | { readonly findings: readonly FaultFinding[] } {
  if (Buffer.byteLength(text) > DOCUMENT_MAX_BYTES)
    return { findings: [{ path: '', value: `${Buffer.byteLength(text)} bytes`, fix: `give at most ${DOCUMENT_MAX_BYTES}` }] }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'silent' })
  if (document.errors.length > 0)
    return {
      findings: document.errors.map(({ message, pos }) => {
        const { line, col } = lines.linePos(pos[0])
        return { path: `line ${line}, column ${col}`, value: 'this text', fix: `write YAML or JSON: ${message}` }
      }),
    }
  const fault = boundFault(document)
  if (fault !== undefined) return { findings: [{ path: '', value: 'this text', fix: `write it with fewer aliases: ${fault.why}` }] }
  try {
    return { value: document.toJS() as unknown }
  } catch (error) {
    // An alias without its anchor, or aliases that would exceed the memory limit.
    return {
      findings: [
        { path: '', value: 'its aliases', fix: `write it without them: ${error instanceof Error ? error.message : String(error)}` },
      ],
    }
  }
}

interface Issue {
  readonly code?: string | undefined
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
}

/** An unknown key is a finding of its own, at its own path. */
function toFindings(issue: Issue, document: unknown): readonly FaultFinding[] {
  const keys = issue.code === 'unrecognized_keys' ? (issue.keys ?? []) : []
  const paths = keys.length === 0 ? [issue.path] : keys.map((key) => [...issue.path, key])
  return paths.map((path) => {
    const value = valueAt(document, path)
    return { path: pathText(path), ...(value !== undefined && { value: shorten(JSON.stringify(value)) }), fix: issue.message }
  })
}

function valueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined),
    document,
  )
}

/** @returns `faults[2].nodes[0]` for `['faults', 2, 'nodes', 0]` */
export function pathText(path: readonly PropertyKey[]): string {
  return path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('')
}

function shorten(json: string): string {
  return json.length > 80 ? `${json.slice(0, 79)}…` : json
}
