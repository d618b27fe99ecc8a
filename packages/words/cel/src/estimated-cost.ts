import { type CelNode, childrenOf, isNode } from './bounds/bounded-steps.ts'
import type { CelType } from './cel-type.ts'

/** Maximum size of a request in bytes, which bounds lists without their own bound. */
const LARGEST_REQUEST = 3 * 1024 * 1024

/** Types of the names in scope. */
type Scope = Readonly<Record<string, CelType>>

/**
 * @param scope types of the expression's variables
 * @returns maximum number of steps of an evaluation, for the largest values that the types allow
 */
export function estimatedCost(root: CelNode, scope: Scope): number {
  const node = root.meta.alternate ?? root
  if (node.op === 'comprehension') return loopCost(node, scope)
  const own = scanCost(node, scope)
  return childrenOf(node).reduce<number>((sum, child) => sum + costOf(child, scope), own)
}

/** @returns maximum number of items, entries or characters of a value of this type */
export function largestSize(type: CelType | undefined): number {
  if (type === undefined) return 1
  if (type.kind !== 'list' && type.kind !== 'map' && type.kind !== 'string') return 1
  if (type.maxSize !== undefined) return type.maxSize
  return type.kind === 'string' ? LARGEST_REQUEST : Math.floor(LARGEST_REQUEST / (smallestJson(type.of) + (type.kind === 'map' ? 6 : 1)))
}

function costOf(value: unknown, scope: Scope): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + costOf(item, scope), 0)
  return isNode(value) ? estimatedCost(value, scope) : 0
}

interface Loop {
  readonly iterable: CelNode
  readonly iterVarName: string
  readonly step: CelNode
}

function loopCost(node: CelNode, scope: Scope): number {
  const { iterable, iterVarName, step } = node.args as Loop
  const range = typeOf(iterable, scope)
  const item: CelType = range?.kind === 'list' ? range.of : range?.kind === 'map' ? { kind: 'string' } : { kind: 'dyn' }
  return estimatedCost(iterable, scope) + largestSize(range) * (1 + estimatedCost(step, { ...scope, [iterVarName]: item }))
}

/** Comparing and searching texts costs a tenth of a step per character. */
function scanCost(node: CelNode, scope: Scope): number {
  if (!['==', '!=', 'in', 'rcall', '<', '<=', '>', '>='].includes(node.op)) return 1
  const operands = (node.op === 'rcall' ? childrenOf(node).slice(1) : childrenOf(node)).flat().filter(isNode)
  const sizes = operands.map((operand) => largestSize(typeOf(operand, scope)))
  const read = node.op === '==' || node.op === '!=' ? Math.min(...sizes) : Math.max(...sizes, 1)
  return 1 + read * 0.1
}

/** @returns the type of a node, if it names a value; filtered and mapped lists are as large as their source */
function typeOf(value: CelNode, scope: Scope): CelType | undefined {
  const node = value.meta.alternate ?? value
  switch (node.op) {
    case 'id':
      return Object.hasOwn(scope, String(node.args)) ? scope[String(node.args)] : undefined
    case '.':
    case '.?':
      return memberOf(typeOf((node.args as readonly CelNode[])[0]!, scope), String((node.args as readonly unknown[])[1]))
    case '[]':
    case '[?]':
      return elementOf(typeOf((node.args as readonly CelNode[])[0]!, scope))
    case 'comprehension': {
      const range = typeOf((node.args as Loop).iterable, scope)
      return range && { kind: 'list', of: { kind: 'dyn' }, maxSize: largestSize(range) }
    }
    case 'value':
      return typeof node.args === 'string' ? { kind: 'string', maxSize: node.args.length } : undefined
    case 'list':
      return { kind: 'list', of: { kind: 'dyn' }, maxSize: (node.args as readonly unknown[]).length }
    default:
      return undefined
  }
}

function memberOf(type: CelType | undefined, name: string): CelType | undefined {
  if (type?.kind === 'object') return Object.hasOwn(type.fields, name) ? type.fields[name] : undefined
  return type?.kind === 'optional' ? memberOf(type.of, name) : elementOf(type)
}

function elementOf(type: CelType | undefined): CelType | undefined {
  return type?.kind === 'list' || type?.kind === 'map' ? type.of : undefined
}

/** Length of the shortest JSON of a type, in characters. */
function smallestJson(type: CelType): number {
  return type.kind === 'int' || type.kind === 'double' || type.kind === 'uint' ? 1 : type.kind === 'bool' ? 4 : 2
}
