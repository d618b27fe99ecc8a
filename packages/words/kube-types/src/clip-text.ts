/**
 * Cuts a text for an object that Tranche writes. The result never holds half a surrogate pair. API servers store U+FFFD for a half, so the
 * text that is computed again would differ from the stored one for ever. It is a copy, so that it does not retain a long text in memory.
 *
 * @returns the text, well-formed, cut to at most `most` UTF-16 code units with an ellipsis at the end
 */
export function clipText(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed()
  const kept = text
    .slice(0, most - 1)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
  return `${kept.split('').join('')}…`
}
