/** The most characters of a value, or of a message, that a status carries. */
const LONGEST_TEXT = 256

/** @returns the text, cut to what a status carries; a character is not cut in two */
export function shortened(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
