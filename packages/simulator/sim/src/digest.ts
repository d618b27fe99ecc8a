import { canonicalJson } from '@tranche/kube-types'

const known = new WeakMap<object, string>()

/**
 * Short digest of a JSON value. It ignores the order of members, and treats `null` as absent. Not collision-resistant against attackers.
 */
export function digest(value: object): string {
  const before = known.get(value)
  if (before !== undefined) return before
  const text = hash(canonicalJson(value, (_key, member) => member !== null))
  known.set(value, text)
  return text
}

/** Two 32-bit FNV-1a hashes with different bases. */
function hash(text: string): string {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    a = Math.imul(a ^ unit, 0x01000193)
    b = Math.imul(b ^ unit, 0x85ebca6b)
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}
