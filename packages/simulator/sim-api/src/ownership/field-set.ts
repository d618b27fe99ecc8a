/**
 * Immutable set of fields of an object in `fieldsV1` form, by path elements (`f:spec`, `k:{"name":"main"}`, `v:"a"`). A field without
 * subfields is a member of the set. A field with subfields is a member if it also has an element `.`.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet
}

/** Member without subfields; as a whole set, the empty set. */
export const LEAF: FieldSet = Object.freeze({})

/** Element that makes a field with subfields a member itself. */
export const SELF = '.'

/** @returns whether the set is empty */
export function isEmptySet(set: FieldSet): boolean {
  for (const _element in set) return false
  return true
}

/** @returns whether the field at this path is a member */
export function isMember(node: FieldSet | undefined): boolean {
  return node !== undefined && (isEmptySet(node) || Object.hasOwn(node, SELF))
}

/** @returns node of a field: its membership and its subfields; undefined when it has neither */
export function nodeOf(member: boolean, below: FieldSet): FieldSet | undefined {
  if (isEmptySet(below)) return member ? LEAF : undefined
  return member ? { [SELF]: LEAF, ...below } : below
}

/** @returns union */
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

/** @returns intersection */
export function intersectionOf(one: FieldSet, other: FieldSet): FieldSet {
  return combined(one, other, (a, b) => (b === undefined ? undefined : inBoth(a, b)))
}

/** @returns fields of the first set that are not in the second */
export function differenceOf(one: FieldSet, other: FieldSet): FieldSet {
  if (isEmptySet(other)) return one
  return combined(one, other, (a, b) => (b === undefined ? a : nodeOf(isMember(a) && !isMember(b), differenceOf(belowOf(a), belowOf(b)))))
}

/** @returns fields of the first set that are neither in the second nor below one of its fields */
export function withoutBranches(one: FieldSet, other: FieldSet): FieldSet {
  if (isEmptySet(other)) return one
  return combined(one, other, (a, b) => {
    if (b === undefined) return a
    return isMember(b) ? undefined : nodeOf(isMember(a), withoutBranches(belowOf(a), belowOf(b)))
  })
}

/** @returns subset below a field */
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
