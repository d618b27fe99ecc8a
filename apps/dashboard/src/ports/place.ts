import type { ApiKey } from '@tranche/api-client'

/** A view of the dashboard with its object. Filters and selections are in {@link Place.query}, so that a link leads to the same picture. */
export type Place = { readonly query?: Readonly<Record<string, string>> } & (
  | { readonly view: 'fleet' | 'record' | 'doctor' }
  | { readonly view: 'rollout' | 'plan' | 'policy'; readonly key: ApiKey }
  | { readonly view: 'node'; readonly key: ApiKey; readonly node: string }
  | { readonly view: 'unknown'; readonly path: string }
)

/** Path of a place below the dashboard's base, without a leading slash. */
export function pathOfPlace(place: Place): string {
  const path = segmentsOf(place).map(encodeURIComponent).join('/')
  const entries = Object.entries(place.query ?? {}).filter(([, value]) => value !== '')
  // Times and names stay readable: a query may contain these signs.
  const query = new URLSearchParams(entries).toString().replaceAll('%3A', ':').replaceAll('%2F', '/')
  return query === '' ? path : `${path}?${query}`
}

function segmentsOf(place: Place): readonly string[] {
  switch (place.view) {
    case 'fleet':
      return []
    case 'record':
    case 'doctor':
      return [place.view]
    case 'rollout':
      return ['rollouts', place.key.namespace, place.key.name]
    case 'plan':
    case 'policy':
      return ['rollouts', place.key.namespace, place.key.name, place.view]
    case 'node':
      return ['rollouts', place.key.namespace, place.key.name, 'nodes', place.node]
    case 'unknown':
      return place.path.split('/')
  }
}

/** @param path below the dashboard's base, without a leading slash. @returns its place; `unknown` for any other path */
export function placeOf(path: string, search = ''): Place {
  const query = Object.fromEntries(new URLSearchParams(search))
  const [first, namespace, name, part, node, ...rest] = path.split('/').map(decoded)
  const key = { namespace: namespace ?? '', name: name ?? '' }
  if (first === '' && namespace === undefined) return { view: 'fleet', query }
  if ((first === 'record' || first === 'doctor') && namespace === undefined) return { view: first, query }
  if (first !== 'rollouts' || key.namespace === '' || key.name === '' || rest.length > 0) return { view: 'unknown', path }
  if (part === undefined || part === '') return { view: 'rollout', key, query }
  if ((part === 'plan' || part === 'policy') && node === undefined) return { view: part, key, query }
  return part === 'nodes' && node !== undefined && node !== '' ? { view: 'node', key, node, query } : { view: 'unknown', path }
}

/** @returns the segment as text; as it is if it is not valid encoding */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
