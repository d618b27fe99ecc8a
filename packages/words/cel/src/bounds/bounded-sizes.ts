import { type CelNode, takeSteps, visitNodes } from './bounded-steps.ts'

/** Number of characters or items that cost one step. */
const SIZE_PER_STEP = 8

/** Operators with a cost proportional to the size of their operands. */
const operators: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', '+', 'in', 'call', 'rcall'])
/** Functions with a constant cost. */
const quick: ReadonlySet<string> = new Set(['size', 'matches'])
/** Functions with a cost proportional to the product of the sizes of two lists. */
const ofSets: ReadonlySet<string> = new Set(['contains', 'equivalent', 'intersects'])

type Handle = (...given: readonly unknown[]) => unknown

/**
 * Makes every operator and function of an expression count steps in proportion to the sizes of its operands and result. An operation that
 * is cheap for a word is not cheap for an answer of a megabyte, especially in a loop. Call it once, after the type check.
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

/** Number of characters of a text; for lists and maps, the total of their contents. Values never change, so each is measured once. */
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
