/** Part of `JSON` that the library of TypeScript does not declare. Browsers may lack it. */
interface WithRawJson {
  rawJSON?(text: string): object
  isRawJSON?(value: unknown): boolean
}

const json = JSON as JSON & WithRawJson

/**
 * A number that JavaScript cannot hold, as an object that `JSON.stringify` writes as the same digits.
 *
 * @param digits of an integer
 * @throws {SyntaxError} if the text is no JSON of a single value
 */
export function rawNumber(digits: string): unknown {
  return json.rawJSON?.(digits) ?? Number(digits)
}

/** Whether a value came from {@link rawNumber}: a copy of its members would be another value. */
export function isRawNumber(value: unknown): boolean {
  return json.isRawJSON?.(value) === true
}
