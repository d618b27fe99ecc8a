import { clipText } from '@tranche/kube-types'

/** Maximum length of the words of the API server in a message, in characters. */
const LONGEST_WORDS = 400

/**
 * Text of a change that the API server rejects.
 *
 * @param what the change, as an object of `rejects`
 * @param words of the API server
 * @param fix in the imperative
 */
export function rejectedText(what: string, words: string, fix: string): string {
  return `the API server rejects ${what}: ${clipText(words.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim(), LONGEST_WORDS)}; ${fix}`
}
