import type { Environment } from '@marcbachmann/cel-js'
import { Duration } from '@marcbachmann/cel-js/evaluator'
import { takeSteps } from '../bounds/bounded-steps.ts'
import { evaluationPattern } from '../bounds/patterns.ts'

/** String extensions, and `find` and `findAll` of the regex library. */
export function registerTexts(environment: Environment): void {
  environment
    .registerFunction('string.charAt(int): string', charAt)
    .registerFunction('string.replace(string, string): string', replaceAll)
    .registerFunction('string.replace(string, string, int): string', replaceSome)
    .registerFunction('string.reverse(): string', (text: string) => Array.from(text).reverse().join(''))
    .registerFunction('string.format(list): string', (pattern: string, values: readonly unknown[]) => format(pattern, values))
    .registerFunction('string.find(string): string', (text: string, pattern: string) => findAll(text, pattern, 1n)[0] ?? '')
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) => findAll(text, pattern, -1n))
    .registerFunction('string.findAll(string, int): list<string>', findAll)
}

function charAt(text: string, index: bigint): string {
  const letters = Array.from(text)
  if (index < 0n || index > BigInt(letters.length)) throw new Error(`index out of range: ${index}`)
  return letters[Number(index)] ?? ''
}

/** Maximum length of the result of a replacement, in characters. */
const LONGEST_TEXT = 4_000_000

function replaceAll(text: string, from: string, to: string): string {
  limitLength(text, from, to)
  return text.replaceAll(from, () => to)
}

/** @throws {Error} if the result could exceed the maximum length */
function limitLength(text: string, from: string, to: string): void {
  const times = from === '' ? text.length + 1 : text.length / from.length
  if (text.length + times * to.length > LONGEST_TEXT) takeSteps(Number.POSITIVE_INFINITY)
}

function replaceSome(text: string, from: string, to: string, most: bigint): string {
  if (most < 0n) return replaceAll(text, from, to)
  limitLength(text, from, to)
  const parts = text.split(from)
  const replaced = parts.slice(0, Number(most) + 1)
  const rest = parts.slice(Number(most) + 1)
  return [replaced.join(to), ...rest].join(from)
}

function findAll(text: string, pattern: string, most: bigint): readonly string[] {
  const found = evaluationPattern(pattern).findAll(text)
  return most < 0n ? found : found.slice(0, Number(most))
}

/** Verbs: `%s` anything, `%d` integers, `%f` and `%e` with a precision, `%b` `%o` `%x` `%X` bases. */
function format(pattern: string, values: readonly unknown[]): string {
  let index = 0
  return pattern.replace(/%(?:\.(\d+))?(.)/gsu, (_match, precision: string | undefined, verb: string) => {
    if (verb === '%') return '%'
    if (index >= values.length) throw new Error(`index ${index} out of range`)
    return formatOne(values[index++], verb, precision === undefined ? 6 : Number(precision))
  })
}

function formatOne(value: unknown, verb: string, precision: number): string {
  switch (verb) {
    case 's':
      return textOf(value)
    case 'd':
      if (typeof value !== 'bigint' && typeof value !== 'number') throw wrong('decimal', 'integers')
      return String(value)
    case 'f':
      return Number(value).toFixed(precision)
    case 'e':
      return Number(value).toExponential(precision)
    case 'b':
      return typeof value === 'boolean' ? String(Number(value)) : BigInt(value as bigint).toString(2)
    case 'o':
      return BigInt(value as bigint).toString(8)
    case 'x':
      return hexOf(value)
    case 'X':
      return hexOf(value).toUpperCase()
    default:
      throw new Error(`could not parse formatting clause: unrecognized formatting clause ${JSON.stringify(verb)}`)
  }
}

function wrong(clause: string, accepted: string): Error {
  return new Error(`error during formatting: ${clause} clause can only be used on ${accepted}`)
}

function hexOf(value: unknown): string {
  if (typeof value === 'bigint') return value.toString(16)
  const bytes = value instanceof Uint8Array ? value : new TextEncoder().encode(String(value))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function textOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`
  if (value instanceof Map)
    return `{${[...value]
      .map(([key, item]) => `${textOf(key)}: ${textOf(item)}`)
      .sort()
      .join(', ')}}`
  if (value instanceof Date) return value.toISOString().replace(/\.?0*Z$/, 'Z')
  if (value instanceof Duration) return String(value)
  return String(value)
}
