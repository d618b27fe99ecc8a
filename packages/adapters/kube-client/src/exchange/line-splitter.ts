/** Splits a text stream into lines. */
export interface LineSplitter {
  /** @returns the non-empty lines that `chunk` completes */
  push(chunk: string): readonly string[]
  /** @returns the text since the last line break */
  rest(): string
}

/** Takes time proportional to the text for any chunking: an unfinished line is kept in pieces and joined once. */
export function createLineSplitter(): LineSplitter {
  let pieces: string[] = []

  function push(chunk: string): readonly string[] {
    const lines: string[] = []
    let start = 0
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
      const line = finish(chunk.slice(start, end))
      if (line !== '') lines.push(line)
      start = end + 1
    }
    if (start < chunk.length) pieces.push(start === 0 ? chunk : chunk.slice(start))
    return lines
  }

  function finish(tail: string): string {
    if (pieces.length === 0) return tail
    pieces.push(tail)
    const line = pieces.join('')
    pieces = []
    return line
  }

  return { push, rest: () => pieces.join('') }
}
