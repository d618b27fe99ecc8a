import type { Environment } from '@marcbachmann/cel-js'

/** List functions of Kubernetes (`sum`, `min`, `max`, `isSorted`, `indexOf`, `lastIndexOf`), and sets. */
export function registerLists(environment: Environment): void {
  environment
    .registerFunction('list<int>.sum(): int', (items: readonly bigint[]) => items.reduce((sum, item) => sum + item, 0n))
    .registerFunction('list<double>.sum(): double', (items: readonly number[]) => items.reduce((sum, item) => sum + item, 0))
    .registerFunction('list<A>.isSorted(): bool', (items: readonly Ordered[]) =>
      items.every((item, index) => index === 0 || compare(items[index - 1]!, item) <= 0),
    )
    .registerFunction('list<A>.min(): A', (items: readonly Ordered[]) => extreme(items, 'min', -1))
    .registerFunction('list<A>.max(): A', (items: readonly Ordered[]) => extreme(items, 'max', 1))
    .registerFunction('list<A>.indexOf(A): int', (items: readonly unknown[], wanted: unknown) =>
      BigInt(items.findIndex((item) => isSame(item, wanted))),
    )
    .registerFunction('list<A>.lastIndexOf(A): int', (items: readonly unknown[], wanted: unknown) =>
      BigInt(items.findLastIndex((item) => isSame(item, wanted))),
    )
  class Sets {}
  environment
    .registerType('SetsNamespace', Sets)
    .registerConstant('sets', 'SetsNamespace', new Sets())
    .registerFunction('SetsNamespace.contains(list<A>, list<A>): bool', (_sets: Sets, all: List, some: List) => contains(all, some))
    .registerFunction(
      'SetsNamespace.equivalent(list<A>, list<A>): bool',
      (_sets: Sets, left: List, right: List) => contains(left, right) && contains(right, left),
    )
    .registerFunction('SetsNamespace.intersects(list<A>, list<A>): bool', (_sets: Sets, left: List, right: List) =>
      left.some((item) => contains(right, [item])),
    )
}

type List = readonly unknown[]
type Ordered = bigint | number | string | boolean | Date

function compare(left: Ordered, right: Ordered): number {
  return left < right ? -1 : left > right ? 1 : 0
}

function extreme(items: readonly Ordered[], name: string, sign: 1 | -1): Ordered {
  if (items.length === 0) throw new Error(`${name} called on empty list`)
  return items.reduce((best, item) => (compare(item, best) * sign > 0 ? item : best))
}

function contains(all: List, some: List): boolean {
  return some.every((wanted) => all.some((item) => isSame(item, wanted)))
}

function isSame(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime()
  return (
    Array.isArray(left) && Array.isArray(right) && left.length === right.length && left.every((item, index) => isSame(item, right[index]))
  )
}
