import type { MarkdownRenderer } from 'vitepress'
import { isCast } from '../cast/cast.ts'
import { siteTargetOf } from './links.ts'

type Tokens = ReturnType<MarkdownRenderer['parse']>
type Token = Tokens[number]

/** Adds to Markdown: links into the repository, players for recordings, and diagrams. */
export function extendMarkdown(markdown: MarkdownRenderer, repository: string | null): void {
  markdown.core.ruler.push('site-links', ({ tokens, env }) => {
    const { relativePath } = env as { relativePath: string }
    for (const block of tokens) if (block.type === 'inline') rewriteLinks(block.children ?? [], relativePath, repository)
  })
  // Pages become templates of Vue, where two braces begin an expression.
  const { text } = markdown.renderer.rules
  markdown.renderer.rules.text = (...args) => (text?.(...args) ?? '').replaceAll('{{', '&#123;&#123;')
  const fence = markdown.renderer.rules.fence
  markdown.renderer.rules.fence = (tokens, index, options, env, self) => {
    const { info, content } = tokens[index]!
    if (info.trim() === 'mermaid') return `<SiteDiagram source="${encodeURIComponent(content)}"/>`
    return fence?.(tokens, index, options, env, self) ?? ''
  }
}

function rewriteLinks(tokens: Tokens, page: string, repository: string | null): void {
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'link_open') continue
    const href = token.attrGet('href') ?? ''
    const target = siteTargetOf(page, href, repository)
    if (target.kind === 'link') token.attrSet('href', target.href)
    else if (target.href !== null) token.attrSet('href', target.href)
    else unlink(token, closingOf(tokens, index), target.path)
    if (target.kind === 'link' && isCast(href)) asPlayer(tokens, index)
  }
}

/** Without a public address of the repository, the text stays, and the path is its title. */
function unlink(open: Token, close: Token, path: string): void {
  open.tag = close.tag = 'span'
  open.type = 'span_open'
  close.type = 'span_close'
  open.attrs = [['title', path]]
}

/** The file is an asset of the page: Vite gives it an address, as it does for an image. */
function asPlayer(tokens: Tokens, index: number): void {
  const open = tokens[index]!
  const close = closingOf(tokens, index)
  open.type = 'player_open'
  close.type = 'player_close'
  open.tag = close.tag = 'CastPlayer'
  open.attrs = [['src', (open.attrGet('href') ?? '').replace(/^(?![./])/, './')]]
}

function closingOf(tokens: Tokens, index: number): Token {
  return tokens.slice(index).find(({ type }) => type === 'link_close')!
}
