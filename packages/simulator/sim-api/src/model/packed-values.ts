import { DEEPEST } from './json.ts'

/** Maximum nesting depth of a body without text in place of values. */
export const DEEPEST_UNPACKED = DEEPEST / 2

/** Start of a string that is the text of an object or list. */
const MARK = '\u0000deep:'
const ESCAPED_MARK = JSON.stringify(MARK).slice(1, -1)
const packed = new RegExp(`"${ESCAPED_MARK.replaceAll('\\', '\\\\')}[^"\\\\]*(?:\\\\.[^"\\\\]*)*"`, 'g')
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]]/g

/**
 * Replaces objects and lists below {@link DEEPEST_UNPACKED} levels by strings with their text. API servers accept a hundred times that many
 * levels where no schema bounds a value, and functions that recurse by level would overflow the stack. They see a string, clients the value.
 *
 * @param json valid JSON
 */
export function packDeepValues(json: string): string {
  const parts: string[] = []
  let levels = 0
  let start = 0
  let from = 0
  for (const { 0: token, index } of json.matchAll(tokens)) {
    if (token === '{' || token === '[') {
      levels++
      if (levels === DEEPEST_UNPACKED + 1) start = index
    } else if (token === '}' || token === ']') {
      if (levels === DEEPEST_UNPACKED + 1) {
        parts.push(json.slice(from, start), JSON.stringify(MARK + json.slice(start, index + 1)))
        from = index + 1
      }
      levels--
    }
  }
  return parts.join('') + json.slice(from)
}

/** Puts the objects and lists back that {@link packDeepValues} replaced. */
export function unpackDeepValues(json: string): string {
  if (!json.includes(ESCAPED_MARK)) return json
  return json.replace(packed, (text) => (JSON.parse(text) as string).slice(MARK.length))
}
