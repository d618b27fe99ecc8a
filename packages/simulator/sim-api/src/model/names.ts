import { createRandom, type Random } from './random.ts'

const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const LONGEST_BASE = 58

/** @returns a name from `generateName`: the base, cut to 58 characters, and five random letters */
export function generateName(base: string, random: Random): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => SUFFIX_LETTERS[random.integer(SUFFIX_LETTERS.length)])
  return base.slice(0, LONGEST_BASE) + suffix.join('')
}

/** Error text for an invalid DNS-1123 subdomain. */
export const NOT_A_SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

/** Error text for an invalid DNS-1123 label. */
export const NOT_A_LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

/** @returns whether the text is a DNS-1123 subdomain of at most 253 characters */
export function isSubdomain(text: string): boolean {
  return text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text)
}

/** @returns whether the text is a DNS-1123 label of at most 63 characters */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text)
}

/** @returns whether the text is a valid key of a label or annotation: `name` or `subdomain/name` */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf('/')
  if (slash !== text.lastIndexOf('/')) return false
  const name = text.slice(slash + 1)
  return (slash < 0 || isSubdomain(text.slice(0, slash))) && name.length <= 63 && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(name)
}

/** @returns whether the text is a valid label value */
export function isLabelValue(text: string): boolean {
  return text.length <= 63 && /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text)
}

/** @returns random sequence for names and uids of one server */
export function createNameRandom(seed: number): Random {
  return createRandom(seed, 'names')
}
