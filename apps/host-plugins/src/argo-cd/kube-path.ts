/** Request to the Kubernetes API for objects of one kind. */
export interface KubePath {
  readonly group: string
  readonly version: string
  readonly plural: string
  /** Empty: all namespaces, or a resource without namespaces. */
  readonly namespace: string
  /** Empty: all objects. */
  readonly name: string
  readonly query: URLSearchParams
}

/** @returns the parts of a path below `/api` or `/apis`; null for any other path, and for subresources */
export function parseKubePath(path: string): KubePath | null {
  const [address = '', query = ''] = path.split('?', 2)
  const match =
    /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?$/.exec(
      address,
    )
  if (match?.groups === undefined) return null
  const { group = '', version = '', namespace = '', plural = '', name = '' } = match.groups
  return {
    group,
    version,
    plural,
    namespace: decodeURIComponent(namespace),
    name: decodeURIComponent(name),
    query: new URLSearchParams(query),
  }
}
