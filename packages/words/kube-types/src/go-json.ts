import { wellFormedJson } from './read-json.ts'

/** Characters that Go's encoder escapes to make JSON safe in HTML. */
const ESCAPED = /[<>&\u2028\u2029]/g

/**
 * Text of a value as Go's `encoding/json` writes it. Other programs compute hashes of it, and API servers compare the strings of a JSON Patch
 * `test` byte by byte. The text is compact, and members keep the order of the value; undefined members are left out. Half a
 * surrogate pair becomes U+FFFD.
 */
export function goJson(value: unknown): string {
  return wellFormedJson(JSON.stringify(value)).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
