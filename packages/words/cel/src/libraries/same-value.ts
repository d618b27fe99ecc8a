/** @returns whether two values of expressions are deeply equal */
export function isSameValue(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime()
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const [own, others] = [membersOf(left), membersOf(right)]
  return own.size === others.size && [...own].every(([key, value]) => others.has(key) && isSameValue(value, others.get(key)))
}

/** A map literal in an expression is a plain object. */
function membersOf(value: object): ReadonlyMap<unknown, unknown> {
  return value instanceof Map ? value : new Map<unknown, unknown>(Object.entries(value))
}
