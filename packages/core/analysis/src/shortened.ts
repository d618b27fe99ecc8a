/** Maximum characters of a value or message in a status. */
const LONGEST_TEXT = 256

/** @returns the text cut to 256 characters, without splitting a surrogate pair */
export function shortened(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
