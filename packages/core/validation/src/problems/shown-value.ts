import { clipText } from '@tranche/kube-types'

/** Maximum characters of a value in a text; longer ones are cut. */
const LONGEST_VALUE = 120

/** @returns a value as JSON, cut to 120 characters; a value of any size and nesting takes the time of its first characters */
export function shownValue(value: unknown): string {
  const text = jsonUpTo(value, LONGEST_VALUE + 1) ?? 'undefined'
  return text.length <= LONGEST_VALUE ? text : clipText(`${text}…`, LONGEST_VALUE + 1)
}

/**
 * The text of `JSON.stringify`; where that is longer than `most` characters, any longer beginning of it.
 *
 * @returns undefined for what JSON cannot express
 */
function jsonUpTo(value: unknown, most: number): string | undefined {
  if (typeof value === 'string') return JSON.stringify(clipText(value, most))
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return Array.isArray(value) ? listUpTo(value, most) : objectUpTo(value as Readonly<Record<string, unknown>>, most)
}

function listUpTo(list: readonly unknown[], most: number): string {
  let text = '['
  for (const item of list) {
    if (text.length > most) return text
    text += `${text === '[' ? '' : ','}${jsonUpTo(item, most - text.length) ?? 'null'}`
  }
  return `${text}]`
}

function objectUpTo(object: Readonly<Record<string, unknown>>, most: number): string {
  let text = '{'
  for (const name in object) {
    if (text.length > most) return text
    const member = Object.hasOwn(object, name) ? jsonUpTo(object[name], most - text.length) : undefined
    if (member !== undefined) text += `${text === '{' ? '' : ','}${JSON.stringify(clipText(name, most))}:${member}`
  }
  return `${text}}`
}
