/** A group of pages in the sidebar. */
export interface NavigationGroup {
  readonly title: string
  readonly pages: readonly { readonly title: string; readonly path: string }[]
}

/** @returns the groups of docs/README.md in their order; each row of its tables is a page. Its groups are its headings with a table */
export function readNavigation(readme: string): readonly NavigationGroup[] {
  const [, ...parts] = readme.split(/^##+ /m)
  return parts
    .map((part) => ({
      title: part.split('\n')[0] ?? '',
      pages: [...part.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\) \|/gm)].map(([, title = '', path = '']) => ({ title, path })),
    }))
    .filter(({ pages }) => pages.length > 0)
}
