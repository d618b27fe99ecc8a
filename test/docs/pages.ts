import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A Markdown page of the repository. */
export interface Page {
  /** Path from the root of the repository. */
  readonly path: string
  readonly text: string
}

/** A line with a command in a fenced `sh` block. */
export interface ShellLine {
  /** `path:line` of the page. */
  readonly where: string
  readonly command: string
}

/** @returns every page that git tracks, or would add */
export function readPages(): readonly Page[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], { encoding: 'utf8' })
  return listed
    .split('\n')
    .filter((path) => path !== '')
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }))
}

/** @returns the targets of Markdown links outside code, as written */
export function linksOf(page: Page): readonly string[] {
  const prose = page.text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^()\s]+)(?:\s+"[^"]*")?\)/g)].map((match) => match[1] ?? '')
}

/** @returns the anchors of a page's headings, as GitHub makes them */
export function anchorsOf(text: string): readonly string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** @returns the commands of all `sh` blocks, without comments and the bodies of here-documents, and with continued lines joined */
export function shellLinesOf(page: Page): readonly ShellLine[] {
  return [...page.text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap((block) => {
    const first = page.text.slice(0, block.index).split('\n').length + 1
    const body = (block[1] ?? '').replace(/\\\n/g, (joined) => ' '.repeat(joined.length))
    return body
      .split('\n')
      .map((line, index) => ({ where: `${page.path}:${first + index}`, command: line.replace(/(^|\s)#.*$/, '').trim() }))
  })
}
