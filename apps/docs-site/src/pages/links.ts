import { posix } from 'node:path'

/** Target of a link on the site. */
export type SiteTarget =
  /** Another page or file of docs, relative to the page, or an address. */
  | { readonly kind: 'link'; readonly href: string }
  /** A file outside of docs, or raw data; `href` is null while the repository has no public address. */
  | { readonly kind: 'repository'; readonly path: string; readonly href: string | null }

/**
 * Turns a link of a Markdown page, which works on GitHub, into one that works on the site.
 *
 * @param page path of the page, relative to docs
 * @param href target as written
 * @param repository address of the repository up to the path, or null
 */
export function siteTargetOf(page: string, href: string, repository: string | null): SiteTarget {
  if (/^([a-z][a-z+.-]*:|#|\/)/i.test(href)) return { kind: 'link', href }
  const [path = '', ...hash] = href.split('#')
  const fromRoot = posix.normalize(posix.join('docs', posix.dirname(page), decodeURI(path)))
  const suffix = hash.length > 0 ? `#${hash.join('#')}` : ''
  // The site has no raw data.
  if (!fromRoot.startsWith('docs/') || path.endsWith('.json')) {
    return { kind: 'repository', path: fromRoot, href: repository === null ? null : `${repository}${fromRoot}${suffix}` }
  }
  if (/^README\.md$/.test(posix.basename(path))) return { kind: 'link', href: `${relativeFolder(path)}${suffix}` }
  // The site has no lists of folders. The only folder that a page links to is that of the records: the first one leads to the others.
  if (path.endsWith('adr/') || path === 'adr') return { kind: 'link', href: `${path.replace(/\/?$/, '/')}${firstRecord}` }
  return { kind: 'link', href }
}

const firstRecord = '0001-use-client-node-for-kubeconfig-only.md'

function relativeFolder(path: string): string {
  const folder = posix.dirname(path)
  return folder === '.' ? './' : `${folder}/`
}
