/** @returns the text, cut to at most `most` UTF-16 code units with an ellipsis at the end; never half a character */
export function clipText(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text
    .slice(0, most - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '')}…`
}
