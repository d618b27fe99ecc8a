import { canonicalJson } from '@tranche/kube-types'

/** Letter for each decimal digit of the sum; no vowels and no digits that look like letters. */
const ALPHABET = '456789bcdf'

/**
 * Hash of a template: equal templates have equal hashes. The value is opaque and has the form of Kubernetes' hash, which itself depends on
 * the memory layout of a Kubernetes version.
 *
 * @param template the stored (defaulted) pod template
 * @param collisionCount `status.collisionCount` of the DaemonSet; 0 when absent
 * @returns 1 to 10 letters of `456789bcdf`
 */
export function revisionHash(template: unknown, collisionCount = 0): string {
  const text = canonicalJson(template) + (collisionCount > 0 ? `#${collisionCount}` : '')
  return String(fnv32a(text)).replace(/\d/g, (digit) => ALPHABET[Number(digit)]!)
}

/** @see Fowler, Noll, Vo: FNV-1a with 32 bits, here over UTF-16 code units, low byte first */
function fnv32a(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    sum = Math.imul(sum ^ (unit & 0xff), 0x01000193)
    if (unit > 0xff) sum = Math.imul(sum ^ (unit >> 8), 0x01000193)
  }
  return sum >>> 0
}
