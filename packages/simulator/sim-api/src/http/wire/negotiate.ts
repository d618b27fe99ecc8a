/** Response representation of objects. */
export type Representation = 'full' | 'table' | 'metadata'

/**
 * Chooses from an `Accept` header. Every response is JSON; the client may choose whole objects, a Table, or metadata alone. Unsupported
 * ranges (protobuf, other discovery forms) are skipped.
 *
 * @returns undefined when no range can be served
 */
export function negotiate(accept: string | undefined): Representation | undefined {
  if (accept === undefined || accept.trim() === '') return 'full'
  for (const range of accept.split(',')) {
    const representation = representationOf(range)
    if (representation !== undefined) return representation
  }
  return undefined
}

function representationOf(range: string): Representation | undefined {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
  if (!jsonTypes.has(type.toLowerCase())) return undefined
  const values = new Map(parameters.map((parameter) => parameter.split('=', 2) as [string, string]))
  const as = values.get('as')
  if (as === undefined) return 'full'
  if (values.get('g') !== 'meta.k8s.io' || values.get('v') !== 'v1') return undefined
  return as === 'Table' ? 'table' : as.startsWith('PartialObjectMetadata') ? 'metadata' : undefined
}

const jsonTypes = new Set(['application/json', 'application/*', '*/*'])

/** @returns whether an `Accept` header allows JSON in its plain form */
export function takesJson(accept = ''): boolean {
  return negotiate(accept) === 'full'
}

/** @returns version of aggregated discovery that the client accepts; undefined when it wants the older form */
export function discoveryVersion(accept = ''): string | undefined {
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const values = new Map(parameters.map((parameter) => parameter.split('=', 2) as [string, string]))
    if (!jsonTypes.has(type.toLowerCase())) continue
    if (!values.has('as')) return undefined
    const version = values.get('v') ?? ''
    const isDiscovery = values.get('g') === 'apidiscovery.k8s.io' && values.get('as') === 'APIGroupDiscoveryList'
    if (isDiscovery && discoveryVersions.has(version)) return version
  }
  return undefined
}

const discoveryVersions = new Set(['v2', 'v2beta1'])
