import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { DefaultTheme, UserConfig } from 'vitepress'
import { anchor } from './pages/anchor.ts'
import { extendMarkdown } from './pages/markdown.ts'
import { readNavigation } from './pages/navigation.ts'
import { moduleList, type SiteOptions } from './site-options.ts'

type SitePlugin = Extract<NonNullable<NonNullable<UserConfig['vite']>['plugins']>[number], { readonly name: string }>

const site = resolve(import.meta.dirname, '..')
const root = resolve(site, '../..')
const docs = join(root, 'docs')

/** Configuration of VitePress: the pages of docs, in the order of docs/README.md. It fails on links to missing pages. */
export function createSiteConfig({ base, outDir, version, repository }: SiteOptions): UserConfig<DefaultTheme.Config> {
  return {
    srcDir: docs,
    outDir: resolve(site, outDir),
    cacheDir: join(root, 'node_modules/.cache/docs-site'),
    base,
    lang: 'en',
    title: 'Tranche',
    description: 'Progressive delivery for Kubernetes DaemonSets',
    rewrites: { 'README.md': 'index.md' },
    markdown: {
      anchor: { slugify: anchor },
      // Braces at the end of a heading are part of a path, such as {name}.
      attrs: { disable: true },
      theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
      config: (markdown) => extendMarkdown(markdown, repository),
    },
    vue: { template: { transformAssetUrls: { includeAbsolute: false, tags: { img: ['src'], CastPlayer: ['src'] } } } },
    vite: {
      plugins: [vueForPages(), accessibleParts(), listModules()],
      assetsInclude: ['**/*.cast'],
      build: { assetsInlineLimit: 0, reportCompressedSize: false, chunkSizeWarningLimit: 4_000 },
    },
    themeConfig: {
      version,
      nav: [
        { text: 'Tutorial', link: '/tutorial' },
        { text: 'Questions', link: '/faq' },
        { text: 'Install', link: '/operations/install' },
      ],
      sidebar: sidebar(),
      outline: 'deep',
      search: {
        provider: 'local',
        options: { miniSearch: { searchOptions: { boost: { title: 4, text: 1, titles: 2 }, combineWith: 'OR' } } },
      },
      ...(repository !== null && { editLink: { pattern: `${repository}docs/:path`, text: 'This page in the repository' } }),
    } as DefaultTheme.Config,
  }
}

/** Pages become modules that import Vue. They are in docs, which has no libraries, so their imports are resolved from here. */
function vueForPages(): SitePlugin {
  return {
    name: 'vue-for-pages',
    enforce: 'pre',
    resolveId(source: string, importer: string | undefined) {
      const isOfPage = importer?.startsWith(docs) === true && /^vue(\/|$)/.test(source)
      return isOfPage ? this.resolve(source, join(site, 'package.json'), { skipSelf: true }) : null
    },
  }
}

/** Lists the files of libraries in the pages, whose licenses scripts/site/build.ts adds. */
function listModules(): SitePlugin {
  return {
    name: 'list-modules',
    generateBundle() {
      const files = [...this.getModuleIds()]
        .map((id) => id.split('?')[0] ?? '')
        .filter((id) => id.startsWith('/') && id.includes('/node_modules/'))
      this.emitFile({ type: 'asset', fileName: moduleList, source: JSON.stringify([...new Set(files)]) })
    },
  }
}

/** Corrects two parts of the default theme that axe rejects, before they are compiled. */
function accessibleParts(): SitePlugin {
  return {
    name: 'accessible-parts',
    enforce: 'pre',
    transform(code: string, id: string) {
      const part = Object.entries(corrections).find(([name]) => id.endsWith(`/${name}.vue`))
      return part === undefined ? null : part[1].reduce(replaceOnce, code)
    },
  }
}

/** Text of a component, and its replacement. */
type Correction = readonly [from: string, to: string]

const corrections: Readonly<Record<string, readonly Correction[]>> = {
  // The arrow is a button inside the button that does the same, and neither says whether the group is open.
  VPSidebarItem: [
    ['role="button"\n        aria-label="toggle section"', 'aria-hidden="true"'],
    ['@keydown.enter="onCaretClick"\n        tabindex="0"', ''],
    [':tabindex="item.items && 0"', ':tabindex="item.items && 0" :aria-expanded="item.collapsed == null ? undefined : !collapsed"'],
  ],
  // Its key is visible text that the name of the button does not have; site.css shows it.
  VPNavBarSearchButton: [['<kbd class="DocSearch-Button-Key">K</kbd>', '<kbd class="DocSearch-Button-Key key-k"></kbd>']],
}

function replaceOnce(code: string, [from, to]: Correction): string {
  if (!code.includes(from)) throw new Error(`the theme of VitePress has no ${JSON.stringify(from)} any more; check its accessibility again`)
  return code.replace(from, to)
}

function sidebar(): DefaultTheme.SidebarItem[] {
  const groups = readNavigation(readFileSync(join(docs, 'README.md'), 'utf8')).map(({ title, pages }, index) => ({
    text: title,
    collapsed: index > 1,
    items: pages
      .filter(({ path }) => path.endsWith('.md'))
      .map((page) => ({ text: page.title, link: `/${page.path.replace(/\.md$/, '')}` })),
  }))
  return [...groups, { text: 'Decision records', collapsed: true, items: records() }]
}

function records(): DefaultTheme.SidebarItem[] {
  const files = readdirSync(join(docs, 'contribute/adr')).filter((file) => file.endsWith('.md'))
  return files.toSorted().map((file) => {
    const [, title = file] = /^# (.+)$/m.exec(readFileSync(join(docs, 'contribute/adr', file), 'utf8')) ?? []
    return { text: title, link: `/contribute/adr/${file.replace(/\.md$/, '')}` }
  })
}
