import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorsOf, linksOf, readPages, type Page } from './pages.ts'

describe('every relative link has a target', () => {
  it.each(readPages())('in $path', (page) => {
    expect(linksOf(page).filter((link) => !leadsSomewhere(page, link))).toEqual([])
  })
})

function leadsSomewhere(page: Page, link: string): boolean {
  if (/^(https?|mailto):/.test(link)) return true
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page.path : normalize(join(dirname(page.path), path))
  if (!existsSync(target)) return false
  if (anchor === undefined) return true
  return statSync(target).isFile() && anchorsOf(readFileSync(target, 'utf8')).includes(anchor)
}
