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

const LONG_INTEGER = /[:[,]\s*-?\d{16}/

/**
 * Parses JSON, and keeps integers that a number cannot hold as {@link rawNumber}. The search makes the slow parse a rare one.
 *
 * @throws {SyntaxError} the text is no JSON
 */
export function parseExactJson(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text)
  try {
    return JSON.parse(text, keepDigits as Parameters<typeof JSON.parse>[1])
  } catch (error) {
    // The parser calls the function from the inside to the outside, and so may nest less deep than without one.
    if (error instanceof RangeError) return JSON.parse(text)
    throw error
  }
}

function keepDigits(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || Number.isSafeInteger(value) || !/^-?\d+$/.test(source)) return value
  return rawNumber(source)
}

/**
 * A copy for a thread or a simulation, which take neither {@link rawNumber} nor integers of more than 64 bits: those beyond 2^53 become the
 * last exact number before them. Parts without any are not copied.
 */
export function withPlainNumbers<Value>(value: Value): Value {
  return plain(value) as Value
}

function plain(value: unknown): unknown {
  if (isRawNumber(value)) return lastExact(Number((value as { readonly rawJSON: string }).rawJSON))
  if (typeof value === 'number') return Number.isInteger(value) ? lastExact(value) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map(plain)
    return items.every((item, at) => item === value[at]) ? value : items
  }
  const members = Object.entries(value).map(([key, member]) => [key, member, plain(member)] as const)
  return members.every(([, before, after]) => before === after) ? value : Object.fromEntries(members.map(([key, , after]) => [key, after]))
}

function lastExact(integer: number): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(Number.MIN_SAFE_INTEGER, integer))
}
