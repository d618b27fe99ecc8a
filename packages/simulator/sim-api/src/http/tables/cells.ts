import { isObject, objectOrEmpty } from '../../model/json.ts'

/** @returns objects in a list; empty without a list */
export function list(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** @returns the value if it is a string, else an empty string */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** @returns the value if it is a non-empty string, else `<none>` */
export function textOrNone(value: unknown): string {
  return text(value) || '<none>'
}

/** @returns labels as a selector: `app=x,tier=y`, or `<none>` */
export function labelsText(labels: unknown): string {
  return (
    Object.entries(objectOrEmpty(labels))
      .map(([key, value]) => `${key}=${String(value)}`)
      .sort()
      .join(',') || '<none>'
  )
}

/** @returns a LabelSelector as text: `app=x,tier in (a,b)`, or `<none>` */
export function selectorText(selector: unknown): string {
  const parts = Object.entries(objectOrEmpty(objectOrEmpty(selector)['matchLabels'])).map(([key, value]) => `${key}=${String(value)}`)
  const expressions = list(objectOrEmpty(selector)['matchExpressions']).map(expressionText)
  return [...parts, ...expressions].sort().join(',') || '<none>'
}

function expressionText(expression: Readonly<Record<string, unknown>>): string {
  const key = text(expression['key'])
  const values = Array.isArray(expression['values']) ? expression['values'].join(',') : ''
  switch (expression['operator']) {
    case 'In':
      return `${key} in (${values})`
    case 'NotIn':
      return `${key} notin (${values})`
    case 'DoesNotExist':
      return `!${key}`
    default:
      return key
  }
}
