import { type CelNode, takeSteps, visitNodes } from './bounded-steps.ts'

/** Characters and items that an operator gets through while a loop takes a step. */
const SIZE_PER_STEP = 8

/** Operators that go through what they are given. */
const operators: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', '+', 'in', 'call', 'rcall'])
/** Functions that do not. */
const quick: ReadonlySet<string> = new Set(['size', 'matches'])
/** Functions that go through one list for every item of another. */
const ofSets: ReadonlySet<string> = new Set(['contains', 'equivalent', 'intersects'])

type Handle = (...given: readonly unknown[]) => unknown

/**
 * Makes every operator and function of an expression take steps by the sizes of what it is given, and of what it makes: what
 * is cheap for a word is not for an answer of a megabyte, within a loop above all. To be called once, after the types have
 * been checked.
 */
export function boundSizes(root: CelNode): void {
  visitNodes(root, (node) => {
    if (!operators.has(node.op)) return
    const name = node.op.endsWith('call') ? String((node.args as readonly unknown[])[0]) : node.op
    if (quick.has(name)) return
    const operator = node as unknown as { handle: Handle }
    const { handle } = operator
    const isCall = node.op.endsWith('call')
    operator.handle = (...given) => {
      const values = isCall ? (given[0] as readonly unknown[]) : given.slice(0, 2)
      takeSteps((ofSets.has(name) ? productOf(values) : sumOf(values)) / SIZE_PER_STEP)
      const made = handle(...given)
      takeSteps(sizeOf(made) / SIZE_PER_STEP)
      return made
    }
  })
}

function sumOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + sizeOf(value), 0)
}

function productOf(values: readonly unknown[]): number {
  return values.reduce<number>((product, value) => product * Math.max(1, sizeOf(value)), 1)
}

const sizes = new WeakMap<object, number>()

/** Characters of a text; of lists and maps, everything in them. Values never change, so that each is looked at once. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  const known = sizes.get(value)
  if (known !== undefined) return known
  const size = itemsOf(value).reduce<number>((sum, item) => sum + sizeOf(item), 1)
  sizes.set(value, size)
  return size
}

function itemsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (value instanceof Map) return [...value.keys(), ...value.values()]
  return value instanceof Uint8Array ? [] : Object.values(value)
}
