/** Calls that describe a schema for CustomResourceDefinitions and OpenAPI; they change nothing of what it accepts. */
const CALL = '.meta('

/**
 * @param code source of a module of Zod schemas
 * @returns the same without the descriptions, which no page reads
 * @throws {Error} if a call does not end
 */
export function withoutDescriptions(code: string): string {
  let rest = code
  let kept = ''
  for (;;) {
    const at = rest.indexOf(CALL)
    if (at === -1) return kept + rest
    kept += rest.slice(0, at)
    rest = rest.slice(endOfCall(rest, at + CALL.length))
  }
}

/** @returns the index after the parenthesis that closes the one before `from`; those in texts do not count */
function endOfCall(code: string, from: number): number {
  let depth = 1
  let quote: string | undefined
  for (let at = from; at < code.length; at++) {
    const letter = code[at]!
    if (letter === '\\') at++
    else if (quote !== undefined) quote = letter === quote ? undefined : quote
    else if (letter === "'" || letter === '"' || letter === '`') quote = letter
    else if (letter === '(') depth++
    else if (letter === ')' && --depth === 0) return at + 1
  }
  throw new Error(`a call of ${CALL}) does not end: ${code.slice(from, from + 80)}`)
}
