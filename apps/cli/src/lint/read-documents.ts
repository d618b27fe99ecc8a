import { LineCounter, parseAllDocuments } from 'yaml'

/** One document of a file, as parsed. */
export interface SourceDocument {
  /** File as it was named; `-` for standard input. */
  readonly source: string
  /** Number of the document in its source, from 1. */
  readonly index: number
  /** Line at which it begins, from 1. */
  readonly line: number
  readonly content: { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'unreadable'; readonly why: string }
}

/**
 * Takes a text of YAML or JSON documents apart: empty documents are left out, the items of a List stand for themselves. A
 * document that cannot be read is one too. Never throws.
 */
export function readDocuments(source: string, text: string): readonly SourceDocument[] {
  const lineCounter = new LineCounter()
  const documents = parseAllDocuments(text, { lineCounter, merge: true, prettyErrors: false })
  return [...documents].flatMap((document, at) => {
    const [error] = document.errors
    const line = lineCounter.linePos(document.contents?.range?.[0] ?? document.range?.[0] ?? 0).line
    const place = { source, index: at + 1, line }
    if (error !== undefined) {
      return [{ ...place, line: lineCounter.linePos(error.pos[0]).line, content: { kind: 'unreadable', why: error.message } }]
    }
    return itemsOf(toContent(() => document.toJS() as unknown)).map((content) => ({ ...place, content }))
  })
}

/** Anchors that multiply a document without end are refused by the parser. */
function toContent(read: () => unknown): SourceDocument['content'] {
  try {
    return { kind: 'value', value: read() }
  } catch (error) {
    return { kind: 'unreadable', why: error instanceof Error ? error.message : String(error) }
  }
}

function itemsOf(content: SourceDocument['content']): readonly SourceDocument['content'][] {
  if (content.kind === 'unreadable') return [content]
  const { value } = content
  if (value === null || value === undefined) return []
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown }
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return [content]
  return items.map((item: unknown) => ({ kind: 'value', value: item }))
}
