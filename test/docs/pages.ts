import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** One Markdown page of the repository. */
export interface Page {
  /** From the root of the repository. */
  readonly path: string
  readonly text: string
}

/** A line of a fenced `sh` block that is a command. */
export interface ShellLine {
  /** `path:line` of the page. */
  readonly where: string
  readonly command: string
}

/** @returns every page that git knows or would take */
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

/** @returns the anchors that a page's headings give, as GitHub makes them */
export function anchorsOf(text: string): readonly string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '')
  return [...prose.matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? '')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

/** @returns the commands of all `sh` blocks: comments and the bodies of here-documents left out, continued lines joined */
export function shellLinesOf(page: Page): readonly ShellLine[] {
  return [...page.text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap((block) => {
    const first = page.text.slice(0, block.index).split('\n').length + 1
    const body = (block[1] ?? '').replace(/\\\n/g, (joined) => ' '.repeat(joined.length))
    return body
      .split('\n')
      .map((line, index) => ({ where: `${page.path}:${first + index}`, command: line.replace(/(^|\s)#.*$/, '').trim() }))
  })
}
