import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorsOf, linksOf, readPages, type Page } from './pages.ts'

describe('every relative link has a target', () => {
  it.each(readPages())('in $path', (page) => {
    expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([])
  })
})

describe('every page that a comment of the sources names exists', () => {
  const sources = globSync(['{apps,packages/*}/*/{src,test}/**/*.ts', '{scripts,test}/**/*.ts'], { exclude: ['**/node_modules'] })

  it.each(sources.map((file) => ({ file, pages: pagesInComments(readFileSync(file, 'utf8')) })).filter(({ pages }) => pages.length > 0))(
    'in $file',
    ({ pages }) => expect(pages.filter((page) => !existsSync(page))).toEqual([]),
  )

  it('no comment, test name or page cites a section by its sign, because the pages have none', () => {
    const texts = [...sources.map((path) => ({ path, text: readFileSync(path, 'utf8') })), ...readPages()]
    expect(texts.filter(({ text }) => /\u00a7 ?\d/.test(text)).map(({ path }) => path)).toEqual([])
  })
})

/** @returns paths such as `docs/reference/policy.md` in lines that are comments */
function pagesInComments(text: string): readonly string[] {
  const comments = text.match(/^\s*(\/\*\*|\*|\/\/).*$/gm) ?? []
  return comments.flatMap((line) => [...line.matchAll(/(?<![\w./])(?:docs\/[\w/-]+|[A-Z]{5,})\.md\b/g)].map(([path]) => path))
}

function leadsSomewhere(page: Page, link: string): boolean {
  if (/^(https?|mailto):/.test(link)) return true
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page.path : normalize(join(dirname(page.path), path))
  if (!existsSync(target)) return false
  if (anchor === undefined) return true
  return statSync(target).isFile() && anchorsOf(readFileSync(target, 'utf8')).includes(anchor)
}
