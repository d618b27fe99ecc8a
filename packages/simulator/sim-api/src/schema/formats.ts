/**
 * @returns whether `text` has the format; an unknown format accepts everything, as in the API server
 * @see Kubernetes documentation, CustomResourceDefinition validation, "supported formats"
 */
export function matchesFormat(format: string, text: string): boolean {
  const pattern = formats[format]
  if (pattern !== undefined && !pattern.test(text)) return false
  return !(format === 'date' || format === 'date-time') || !Number.isNaN(Date.parse(text))
}

const octet = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'

const formats: Readonly<Record<string, RegExp>> = {
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)$/,
  duration: /^[+-]?(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+)$|^\d+ ?(?:ns|us|ms|s|m|h|d|w|sec|min|hour|hr|day|week)s?$/,
  ipv4: new RegExp(`^${octet}(?:\\.${octet}){3}$`),
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
}
