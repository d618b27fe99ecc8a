/** Header of every generated page of docs/reference. */
export const MADE = '<!-- Made by `pnpm generate`; changes belong to the sources. -->'

/** @returns a Markdown table, without a trailing line break */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`)
    .join('\n')
    .replace(/^\| ---.*$/m, `|${heads.map(() => '---').join('|')}|`)
}

/** @returns plain text with Markdown characters escaped, except for code in backticks */
export function prose(text: string): string {
  const parts = text.split(/(`[^`]*`)/)
  return parts.map((part, at) => (at % 2 === 1 ? part : part.replaceAll('<', '&lt;').replace(/[*_](?=\S)/g, '\\$&'))).join('')
}

/** @returns text as code; empty text stays empty */
export function code(text: string): string {
  if (text === '') return ''
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

/** @returns the parts, separated by empty lines, with one trailing line break */
export function page(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** @returns the anchor that GitHub gives a heading */
export function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
