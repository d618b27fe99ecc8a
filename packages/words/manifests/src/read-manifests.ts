import { type Document, isScalar, LineCounter, parseAllDocuments, visit, type YAMLParseError } from 'yaml'
import { boundFault, type Fault, levelsFault } from './bounded-document.ts'

/** One parsed document of a text. */
export interface ManifestDocument {
  /** Position of the document in the text, from 1. */
  readonly index: number
  /** Line of its start, or of the parse error; from 1. */
  readonly line: number
  readonly content: { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'unreadable'; readonly why: string }
}

/**
 * Splits a text into its YAML or JSON documents. Empty documents are left out; the items of a List are returned instead of the List. A
 * document that cannot be parsed or is not an object is returned as unreadable. Runs in linear time. Never throws.
 */
export function readManifests(text: string): readonly ManifestDocument[] {
  const lineCounter = new LineCounter()
  // The parser's own check for duplicate keys takes quadratic time.
  const documents = parseAllDocuments(text, { lineCounter, merge: true, uniqueKeys: false, prettyErrors: false })
  const lineOf = (offset: number): number => lineCounter.linePos(offset).line
  return [...documents].flatMap((document, at) => {
    const [error] = document.errors
    const fault = error === undefined ? (boundFault(document) ?? keyTwice(document)) : { why: wordsOf(error), offset: error.pos[0] }
    if (fault !== undefined) {
      return [{ index: at + 1, line: lineOf(fault.offset), content: { kind: 'unreadable', why: fault.why } }]
    }
    const line = lineOf(document.contents?.range?.[0] ?? document.range?.[0] ?? 0)
    return itemsOf(toContent(() => document.toJS({ maxAliasCount: -1 }) as unknown)).map((content) => ({ index: at + 1, line, content }))
  })
}

/** Text of a parse error. The parser stops before its stack overflows. */
function wordsOf({ code, message }: YAMLParseError): string {
  return code === 'RESOURCE_EXHAUSTION' ? 'it is nested too deeply' : message
}

/** Merge keys may be repeated. */
function keyTwice(document: Document): Fault | undefined {
  let found: Fault | undefined
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key
        const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0
        if (seen.has(name) && name !== '<<') found ??= { why: `Map keys must be unique; ${JSON.stringify(name)} is repeated`, offset }
        seen.add(name)
      }
      return found === undefined ? undefined : visit.BREAK
    },
  })
  return found
}

/** Aliases inside anchors can nest deeper than the text. */
function toContent(read: () => unknown): ManifestDocument['content'] {
  try {
    const value = read()
    const why = levelsFault(value)
    return why === undefined ? { kind: 'value', value } : { kind: 'unreadable', why }
  } catch (error) {
    return { kind: 'unreadable', why: error instanceof Error ? error.message : String(error) }
  }
}

function itemsOf(content: ManifestDocument['content']): readonly ManifestDocument['content'][] {
  if (content.kind === 'unreadable') return [content]
  const { value } = content
  if (value === null || value === undefined) return []
  if (typeof value !== 'object' || Array.isArray(value)) return [noObject(value)]
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown }
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [content]
  return items.map((item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item) ? { kind: 'value', value: item } : noObject(item),
  )
}

function noObject(value: unknown): ManifestDocument['content'] {
  const what = value === null ? 'nothing' : Array.isArray(value) ? 'a list' : JSON.stringify(value).slice(0, LONGEST_VALUE)
  return { kind: 'unreadable', why: `it holds ${what}, and not an object with apiVersion and kind` }
}

/** Maximum length of a value in a message, in characters. */
const LONGEST_VALUE = 60
