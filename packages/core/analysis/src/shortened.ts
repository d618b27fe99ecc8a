import { clipText } from '@tranche/kube-types'

/** Maximum characters of a value or message in a status. */
const LONGEST_TEXT = 256

/** @returns the text cut to 256 characters, without splitting a surrogate pair */
export function shortened(text: string): string {
  return clipText(text, LONGEST_TEXT)
}
