/**
 * Whether a name ends in a hash of the object's content, so that other content has another name:
 *
 * - ten characters of kustomize's alphabet, as `configMapGenerator` and `secretGenerator` append them: `agent-config-7g2kc9hb4m`;
 * - at least six hexadecimal characters after the word for a digest: `agent-config-sha256-1a2b3c`;
 * - at least eight hexadecimal characters with a digit among them: `agent-config-1a2b3c4d`.
 *
 * A date such as `20261127`, the number of an account such as `123456789012`, and a word such as `deadbeef` are no hashes.
 */
export function hasContentHash(name: string): boolean {
  if (KUSTOMIZE.test(name) || NAMED_DIGEST.test(name)) return true
  const hex = HEX.exec(name)?.[1]
  return hex !== undefined && /\d/.test(hex) && !isDate(hex) && !isAccount(hex)
}

/** Kustomize maps the hexadecimal characters 0, 1, 3, a and e to g, h, k, m and t, so that a hash spells no word. */
const KUSTOMIZE = /[-.][2456789bcdfghkmt]{10}$/
const NAMED_DIGEST = /[-.](?:sha|sha1|sha224|sha256|sha384|sha512|md5|checksum|digest|hash)[-.][0-9a-f]{6,}$/
const HEX = /[-.]([0-9a-f]{8,})$/

/** Whether it may be the number of an account or a project of a cloud. A hash of this length is rarely without a letter. */
function isAccount(hex: string): boolean {
  return /^\d{12}$/.test(hex)
}

/** Whether the digits begin with year, month and day, as in names with a time. */
function isDate(hex: string): boolean {
  return /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d*$/.test(hex)
}
