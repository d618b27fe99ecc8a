import { valueIn } from '@tranche/kube-types'

/**
 * @returns whether `text` has the format; an unknown format accepts everything, as in the API server
 * @see Kubernetes documentation, CustomResourceDefinition validation, "supported formats"
 */
export function matchesFormat(format: string, text: string): boolean {
  if (format === 'date') return isDate(text)
  if (format === 'date-time') return isDateTime(text)
  return valueIn(formats, format)?.test(text) !== false
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const ms = Date.parse(text)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}

/**
 * API servers accept more than RFC 3339 has: any character before the fraction, and any text from a second `T` on. They require the colon
 * of an offset, and reject leap seconds.
 *
 * @see k8s.io/kube-openapi/pkg/validation/strfmt, IsDateTime
 */
function isDateTime(text: string): boolean {
  const [date = '', time = ''] = text.toLowerCase().split('t')
  const [, hours = '', minutes = '', seconds = ''] = timeOfDay.exec(time) ?? []
  return isDate(date) && hours !== '' && hours <= '23' && minutes <= '59' && seconds <= '59'
}

const timeOfDay = /^(\d\d):(\d\d):(\d\d)(?:[^\n]\d+)?(?:z|[+-]\d\d:\d\d)$/u

const octet = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'

const formats: Readonly<Record<string, RegExp>> = {
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  duration: /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$|^\d+ ?(?:ns|us|ms|s|m|h|d|w|sec|min|hour|hr|day|week)s?$/,
  ipv4: new RegExp(`^${octet}(?:\\.${octet}){3}$`),
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
}
