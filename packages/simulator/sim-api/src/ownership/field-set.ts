/**
 * Some fields of an object, in the form of `fieldsV1`: by path elements (`f:spec`, `k:{"name":"main"}`, `v:"a"`). A field that has
 * nothing below it belongs to the set; one with fields below it does where it has an element `.` too. Never changed.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet
}

/** A field that belongs to a set and has nothing below it; as a whole set, the one without fields. */
export const LEAF: FieldSet = Object.freeze({})

/** The element that says that a field with others below it belongs to the set itself. */
export const SELF = '.'

/** @returns whether the set has no fields */
export function isEmptySet(set: FieldSet): boolean {
  for (const _element in set) return false
  return true
}

/** @returns whether the field at this place belongs to the set */
export function isMember(node: FieldSet | undefined): boolean {
  return node !== undefined && (isEmptySet(node) || Object.hasOwn(node, SELF))
}

/** @returns the node of a field: whether it belongs to the set itself, and what is below it; undefined where neither is */
export function nodeOf(member: boolean, below: FieldSet): FieldSet | undefined {
  if (isEmptySet(below)) return member ? LEAF : undefined
  return member ? { [SELF]: LEAF, ...below } : below
}

/** @returns the fields of both */
export function unionOf(one: FieldSet, other: FieldSet): FieldSet {
  if (one === other || isEmptySet(other)) return one
  if (isEmptySet(one)) return other
  const result: Record<string, FieldSet> = { ...one }
  for (const element of Object.keys(other)) {
    const [a, b] = [one[element], other[element]!]
    result[element] = a === undefined ? b : nodeOf(isMember(a) || isMember(b), unionOf(belowOf(a), belowOf(b)))!
  }
  return result
}

/** @returns the fields that are in both */
export function intersectionOf(one: FieldSet, other: FieldSet): FieldSet {
  return combined(one, other, (a, b) => (b === undefined ? undefined : inBoth(a, b)))
}

/** @returns the fields of the first that are not in the other */
export function differenceOf(one: FieldSet, other: FieldSet): FieldSet {
  if (isEmptySet(other)) return one
  return combined(one, other, (a, b) => (b === undefined ? a : nodeOf(isMember(a) && !isMember(b), differenceOf(belowOf(a), belowOf(b)))))
}

/** @returns the fields of the first that are neither in the other nor below a field of it */
export function withoutBranches(one: FieldSet, other: FieldSet): FieldSet {
  if (isEmptySet(other)) return one
  return combined(one, other, (a, b) => {
    if (b === undefined) return a
    return isMember(b) ? undefined : nodeOf(isMember(a), withoutBranches(belowOf(a), belowOf(b)))
  })
}

/** @returns what is below a field */
export function belowOf(node: FieldSet): FieldSet {
  if (!Object.hasOwn(node, SELF)) return node
  const { [SELF]: _self, ...below } = node
  return below
}

function inBoth(a: FieldSet, b: FieldSet): FieldSet | undefined {
  return nodeOf(isMember(a) && isMember(b), intersectionOf(belowOf(a), belowOf(b)))
}

function combined(one: FieldSet, other: FieldSet, combine: (a: FieldSet, b: FieldSet | undefined) => FieldSet | undefined): FieldSet {
  const result: Record<string, FieldSet> = {}
  for (const element of Object.keys(one)) {
    const node = combine(one[element]!, other[element])
    if (node !== undefined) result[element] = node
  }
  return result
}
