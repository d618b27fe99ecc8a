/** Splits the JSON of a list into its items. */
export interface ListSplitter {
  /** @returns the items that `chunk` completes */
  push(chunk: string): readonly string[]
  /** @returns the list without its items; all text if it was not a list */
  rest(): string
}

/**
 * Splits text as it arrives, for any chunking, so that neither the text nor its objects are held whole. It follows only the structure; the
 * parser judges the content of each item. Items are objects; other values are dropped.
 */
export function createListSplitter(): ListSplitter {
  const state: State = { depth: 0, isInString: false, isEscaped: false, isInItems: false, pieces: [], around: [] }
  return { push: (chunk) => push(state, chunk), rest: () => state.around.join('') }
}

interface State {
  /** Number of open objects and arrays. */
  depth: number
  isInString: boolean
  /** Whether the current string ends with a backslash that escapes the next character. */
  isEscaped: boolean
  isInItems: boolean
  /** Pieces of the current item. */
  pieces: string[]
  around: string[]
}

/** Depth within the array of items. */
const IN_ITEMS = 2
const [QUOTE, OBJECT, END_OF_OBJECT, ARRAY, END_OF_ARRAY] = Array.from('"{}[]', (letter) => letter.charCodeAt(0))

function push(state: State, chunk: string): readonly string[] {
  const items: string[] = []
  let from = 0
  let at = 0
  while (at < chunk.length) {
    if (state.isInString) {
      at = afterString(state, chunk, at)
      continue
    }
    const code = chunk.charCodeAt(at)
    if (code === QUOTE) state.isInString = true
    else if (code === OBJECT || code === ARRAY) {
      if (state.isInItems && state.depth === IN_ITEMS) from = at
      state.depth++
      if (code === ARRAY && state.depth === IN_ITEMS && isOfItems(state, chunk.slice(from, at))) {
        state.around.push(chunk.slice(from, at + 1))
        state.isInItems = true
      }
    } else if (code === END_OF_OBJECT || code === END_OF_ARRAY) {
      state.depth--
      if (state.isInItems && state.depth === IN_ITEMS) items.push(finish(state, chunk.slice(from, at + 1)))
      else if (state.isInItems && state.depth < IN_ITEMS) {
        state.isInItems = false
        from = at
      }
    }
    at++
  }
  if (!state.isInItems) state.around.push(chunk.slice(from))
  else if (state.depth > IN_ITEMS) state.pieces.push(chunk.slice(from))
  return items
}

/** @returns the position after the string that is open at `at`; the end of the chunk if it has not ended */
function afterString(state: State, chunk: string, at: number): number {
  let from = at
  for (;;) {
    const quote = chunk.indexOf('"', from)
    const end = quote < 0 ? chunk.length : quote
    let backslashes = 0
    while (end - backslashes > from && chunk[end - backslashes - 1] === '\\') backslashes++
    const isWhole = end - backslashes === from
    const isEscaped = (backslashes % 2 === 1) !== (isWhole && state.isEscaped)
    state.isEscaped = quote < 0 && isEscaped
    if (quote < 0) return end
    from = quote + 1
    if (isEscaped) continue
    state.isInString = false
    return from
  }
}

/** Whether the array that begins after `tail` holds the items. */
function isOfItems({ around }: State, tail: string): boolean {
  return /(?<!\\)"items"\s*:\s*$/.test(around.join('') + tail)
}

function finish(state: State, tail: string): string {
  if (state.pieces.length === 0) return tail
  state.pieces.push(tail)
  const item = state.pieces.join('')
  state.pieces = []
  return item
}
