/** A value of JSON, as a pod template has it. */
type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * Prints a value of JSON as YAML with sorted keys: their order says nothing, so it must not appear as a difference. `name` comes first, so
 * that the first line of an item identifies it.
 *
 * @returns lines without a line break at the end
 */
export function yamlOf(value: unknown): string {
  return linesOf(value as Json).join('\n')
}

function linesOf(value: Json): readonly string[] {
  if (typeof value !== 'object' || value === null || isEmpty(value)) return [scalarOf(value)]
  if (isList(value)) return value.flatMap(itemLines)
  return entriesOf(value).flatMap(([key, item]) => entryLines(key, item))
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

function itemLines(item: Json): readonly string[] {
  const [first = '', ...rest] = isBlock(item) ? blockLines(item) : linesOf(item)
  return [`- ${first}`, ...rest.map(indented)]
}

function entryLines(key: string, value: Json): readonly string[] {
  const name = textOf(key)
  if (isBlock(value)) {
    const [mark = '', ...rest] = blockLines(value)
    return [`${name}: ${mark}`, ...rest.map(indented)]
  }
  if (typeof value !== 'object' || value === null || isEmpty(value)) return [`${name}: ${scalarOf(value)}`]
  return [`${name}:`, ...(isList(value) ? linesOf(value) : linesOf(value).map(indented))]
}

function entriesOf(value: { readonly [key: string]: Json }): readonly (readonly [string, Json])[] {
  return Object.entries(value).toSorted(([a], [b]) => Number(b === 'name') - Number(a === 'name') || (a < b ? -1 : 1))
}

function indented(line: string): string {
  return line === '' ? '' : `  ${line}`
}

function isEmpty(value: object): boolean {
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}

function scalarOf(value: Json): string {
  if (typeof value === 'string') return textOf(value)
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[]' : '{}'
  return String(value)
}

/** Text that YAML reads as text without quotes: words, paths and quantities that are no number, date, or other type. */
const PLAIN = /^[A-Za-z_/][\w./@+-]*(?:[ :][\w./@+-]+)*$/
const QUANTITY = /^[1-9]\d*(?:[KMGTPE]i|m|%)$/
const OTHER_TYPE = /^(?:null|true|false|yes|no|on|off|y|n)$/i

function textOf(text: string): string {
  return QUANTITY.test(text) || (PLAIN.test(text) && !OTHER_TYPE.test(text)) ? text : quoted(text)
}

/**
 * A text of JSON is one of YAML. Characters that are not visible are escaped, also those that change the direction of text: a difference must
 * not look like another one.
 */
function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\p{C}\u2028\u2029]/gu, escaped)
}

function escaped(character: string): string {
  const code = character.codePointAt(0)!.toString(16)
  return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
}

/** Text with line breaks is printed line by line, so that one changed line is one difference. */
function isBlock(value: Json): value is string {
  return (
    typeof value === 'string' &&
    /^[^\s\p{C}][^\p{C}]*(?:\n[^\p{C}]*)*\n[^\n\p{C}]*$/u.test(value) &&
    !/[^\S\n](?:\n|$)|\n\n$|[\u2028\u2029]/.test(value)
  )
}

function blockLines(text: string): readonly string[] {
  return text.endsWith('\n') ? ['|', ...text.slice(0, -1).split('\n')] : ['|-', ...text.split('\n')]
}
