/** Characters that Go's encoder writes as escapes, so that JSON may stand in HTML. */
const ESCAPED = /[<>&\u2028\u2029]/g

/**
 * The text that Go's `encoding/json` makes of a value, for hashes that other programs compute: compact, members in the
 * order in which the value has them, those that are undefined left out.
 */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(ESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
