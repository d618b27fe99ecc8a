import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { Starting } from '../src/brand/starting.tsx'

describe('the page before any script', () => {
  it('is what the page shows while it checks the session, so that nothing moves', () => {
    const html = readFileSync(join(import.meta.dirname, '../index.html'), 'utf8')
    const root = /<div id="root">(.*?)<\/div>\s*<noscript>/s.exec(html)?.[1]
    expect(alike(root ?? '')).toBe(alike(renderToStaticMarkup(createElement(Starting))))
  })
})

/** Without comments, spaces between elements, addresses, and the spelling of empty elements. */
function alike(html: string): string {
  return html
    .replaceAll(/<!--.*?-->/gs, '')
    .replaceAll(/src="[^"]*"/g, 'src')
    .replaceAll(/\s*\/>/g, '>')
    .replaceAll(/\s*(<[^>]*>)\s*/g, '$1')
    .split(/(?<=>)/)
    .map((part) =>
      part.replace(
        /<(\w+) ([^>]*)>/,
        (_, tag: string, attributes: string) =>
          `<${tag} ${attributes
            .split(/ (?=\w+(?:=|$))/)
            .sort()
            .join(' ')}>`,
      ),
    )
    .join('')
}
