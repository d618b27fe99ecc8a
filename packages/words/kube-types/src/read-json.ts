/** An escape in the range of surrogates. Almost no text has one: encoders write such characters as they are. */
const ANY_SURROGATE = /\\u[dD][89a-fA-F]/
/** Escapes of a JSON text: a pair of surrogates, half of a pair, or any other one, whose backslash must not start another. */
const ESCAPES = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\[\s\S]/g

/**
 * Parses JSON as Go's `encoding/json` does, which API servers use: the escape of half a surrogate pair becomes U+FFFD. `JSON.parse` keeps the
 * half, and a text with it changes as soon as an API server stores it.
 *
 * @throws {SyntaxError} the text is no JSON
 */
export function readJson(text: string): unknown {
  return JSON.parse(wellFormedJson(text))
}

/** @returns the JSON text with U+FFFD in place of the escape of half a surrogate pair */
export function wellFormedJson(text: string): string {
  if (!ANY_SURROGATE.test(text)) return text
  return text.replace(ESCAPES, (found, half: string | undefined) => (half === undefined ? found : '\uFFFD'))
}
