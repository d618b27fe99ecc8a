/** Parsed path, before resources are resolved. */
export type Route =
  | { readonly kind: 'root' }
  /** `check` is `readyz`, `livez` or `healthz`; `part` is a single requested check, if any. */
  | { readonly kind: 'health'; readonly check: string; readonly part?: string; readonly verbose: boolean }
  | { readonly kind: 'version' }
  | { readonly kind: 'coreVersions' }
  | { readonly kind: 'groups' }
  | { readonly kind: 'group'; readonly group: string }
  | { readonly kind: 'resources'; readonly group: string; readonly version: string }
  | { readonly kind: 'openApiV2' }
  | { readonly kind: 'openApiIndex' }
  /** `path` after `/openapi/v3/`: `api/v1`, `apis/apps/v1`; `hash` from the query, empty when missing. */
  | { readonly kind: 'openApi'; readonly path: string; readonly hash: string }
  | ResourceRoute
  | { readonly kind: 'unknown' }

/** Path below a group and version. */
export interface ResourceRoute {
  readonly kind: 'resource'
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly namespace?: string
  readonly name?: string
  readonly subresource?: string
  /** Older form of a watch: `/api/v1/watch/pods`. */
  readonly isWatch?: true
}

/** @param path without the query, percent-encoded as received */
export function parseRoute(path: string, query: URLSearchParams): Route {
  const words = path.split('/').filter((word) => word !== '')
  const [first, second] = words
  if (first === undefined) return { kind: 'root' }
  if (first === 'api') return parseApi(words)
  if (first === 'apis') return parseApis(words)
  if (first === 'version' && second === undefined) return { kind: 'version' }
  if (first === 'openapi') return parseOpenApi(words.slice(1), query)
  return healthChecks.has(first) && words.length <= 2 ? parseHealth(first, second, query) : { kind: 'unknown' }
}

function parseOpenApi([version, ...path]: readonly string[], query: URLSearchParams): Route {
  if (version === 'v2' && path.length === 0) return { kind: 'openApiV2' }
  if (version !== 'v3') return { kind: 'unknown' }
  return path.length === 0 ? { kind: 'openApiIndex' } : { kind: 'openApi', path: path.join('/'), hash: query.get('hash') ?? '' }
}

function parseHealth(check: string, part: string | undefined, query: URLSearchParams): Route {
  if (part !== undefined && part !== 'ping') return { kind: 'unknown' }
  return { kind: 'health', check, ...(part !== undefined && { part }), verbose: query.has('verbose') }
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

/** `namespaces/x` and `namespaces/x/status` are the namespace itself; `namespaces/x/pods` is its content. */
function parseResource(group: string, version: string, encoded: readonly string[]): Route {
  if (encoded[0] === 'watch' && encoded.length > 1) {
    const watched = parseResource(group, version, encoded.slice(1))
    return watched.kind === 'resource' && watched.subresource === undefined ? { ...watched, isWatch: true } : { kind: 'unknown' }
  }
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
