/** Path of the plugin below the URL of a cluster. */
export const PLUGIN_PATH = '/tranche'

/** @param pathname of Headlamp, such as `/c/CLUSTER/tranche/record`. @returns path of the plugin in that cluster */
export function baseOf(pathname: string): string {
  const cluster = /^\/c\/[^/]+/.exec(pathname)?.[0] ?? ''
  return `${cluster}${PLUGIN_PATH}`
}

/** @param path of a place, with its query. @returns URL below the base, without a slash at the end of its path */
export function urlBelow(base: string, path: string): string {
  return path === '' || path.startsWith('?') ? `${base}${path}` : `${base}/${path}`
}
