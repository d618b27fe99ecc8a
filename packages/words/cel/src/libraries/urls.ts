import type { Environment } from '@marcbachmann/cel-js'

/** A URL with a scheme and a host, or an absolute path. */
class CelUrl {
  readonly url: URL | undefined
  readonly path: string
  readonly query: URLSearchParams

  constructor(url: URL | undefined, path: string, query: URLSearchParams) {
    this.url = url
    this.path = path
    this.query = query
  }
}

/** `url`, `isURL` and their methods. */
export function registerUrls(environment: Environment): void {
  environment
    .registerType('URL', { ctor: CelUrl, fields: {} })
    .registerFunction('url(string): URL', (text: string) => {
      const url = parse(text)
      if (url === undefined)
        throw new Error(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`)
      return url
    })
    .registerFunction('isURL(string): bool', (text: string) => parse(text) !== undefined)
    .registerFunction('URL.getScheme(): string', ({ url }: CelUrl) => url?.protocol.replace(':', '') ?? '')
    .registerFunction('URL.getHost(): string', ({ url }: CelUrl) => url?.host ?? '')
    .registerFunction('URL.getHostname(): string', ({ url }: CelUrl) => url?.hostname.replace(/^\[|\]$/g, '') ?? '')
    .registerFunction('URL.getPort(): string', ({ url }: CelUrl) => url?.port ?? '')
    .registerFunction('URL.getEscapedPath(): string', ({ path }: CelUrl) => path)
    .registerFunction(
      'URL.getQuery(): map<string, list<string>>',
      ({ query }: CelUrl) => new Map([...new Set(query.keys())].map((key) => [key, query.getAll(key)])),
    )
}

function parse(text: string): CelUrl | undefined {
  if (text.startsWith('/')) {
    const at = text.indexOf('?')
    return new CelUrl(undefined, at === -1 ? text : text.slice(0, at), new URLSearchParams(at === -1 ? '' : text.slice(at)))
  }
  const url = /^[a-z][a-z0-9+.-]*:\/\/\S+$/i.test(text) ? URL.parse(text) : null
  if (url === null) return undefined
  const hasPath = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+\//i.test(text)
  return new CelUrl(url, hasPath ? url.pathname : '', url.searchParams)
}
