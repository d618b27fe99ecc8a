/** What a path means, before anything is known about the resources that exist. */
export type Route =
  | { readonly kind: 'health'; readonly check: string; readonly verbose: boolean }
  | { readonly kind: 'version' }
  | { readonly kind: 'coreVersions' }
  | { readonly kind: 'groups' }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'resources'; readonly group: string; readonly version: string }
  | { readonly kind: 'openApiPaths' }
  /** `path` as it follows `/openapi/v3/`: `api/v1`, `apis/apps/v1`. */
  | { readonly kind: 'openApi'; readonly path: string }
  | ResourceRoute
  | { readonly kind: 'unknown' }

/** A path below a group and version. */
export interface ResourceRoute {
  readonly kind: 'resource'
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
}

/** @param path without the query, percent-encoded as it came */
export function parseRoute(path: string, query: URLSearchParams): Route {
  const words = path.split('/').filter((word) => word !== '')
  const [first, second, third] = words
  if (first === 'api') return parseApi(words)
  if (first === 'apis') return parseApis(words)
  if (first === 'version' && second === undefined) return { kind: 'version' }
  if (first === 'openapi' && second === 'v3')
    return third === undefined ? { kind: 'openApiPaths' } : { kind: 'openApi', path: words.slice(2).join('/') }
  if (first !== undefined && healthChecks.has(first)) return { kind: 'health', check: first, verbose: query.has('verbose') }
  return { kind: 'unknown' }
}

const healthChecks = new Set(['readyz', 'livez', 'healthz'])

function parseApi(words: readonly string[]): Route {
  const version = words[1]
  if (version === undefined) return { kind: 'coreVersions' }
  return words.length === 2 ? { kind: 'resources', group: '', version } : parseResource('', version, words.slice(2))
}

function parseApis(words: readonly string[]): Route {
  const [, group, version] = words
  if (group === undefined) return { kind: 'groups' }
  if (version === undefined) return { kind: 'group', group }
  return words.length === 3 ? { kind: 'resources', group, version } : parseResource(group, version, words.slice(3))
}

/** `namespaces/x` and `namespaces/x/status` are about the namespace itself; `namespaces/x/pods` is about what is in it. */
function parseResource(group: string, version: string, encoded: readonly string[]): Route {
  const words = decodeWords(encoded)
  if (words === undefined) return { kind: 'unknown' }
  const inNamespace = words[0] === 'namespaces' && words.length > 2 && !(group === '' && namespaceSubresources.has(words[2]!))
  const [resource = '', name, subresource, ...rest] = inNamespace ? words.slice(2) : words
  if (rest.length > 0) return { kind: 'unknown' }
  return {
    kind: 'resource',
    group,
    version,
    resource,
    ...(inNamespace && { namespace: words[1]! }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
  }
}

const namespaceSubresources = new Set(['status', 'finalize'])

function decodeWords(encoded: readonly string[]): readonly string[] | undefined {
  try {
    return encoded.map(decodeURIComponent)
  } catch {
    return undefined
  }
}
