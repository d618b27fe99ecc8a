import { type Document, isAlias, isCollection, isPair, isScalar, type Node } from 'yaml'

/** Problem of a document, with its offset in the text in characters. */
export interface Fault {
  readonly why: string
  readonly offset: number
}

/** Maximum number of aliases (`*name`) in one document; each is looked up among all anchors. */
const MOST_ALIASES = 1_000
/** Maximum number of values that aliases repeat in one document. */
const MOST_REPEATED = 100_000
/** Maximum nesting depth of maps and lists; Kubernetes objects have fewer than 30 levels. */
const DEEPEST = 200
const TOO_DEEP = `it is nested more than ${DEEPEST} levels deep`

/**
 * Checks the size of a document before it is converted to values. Aliases can multiply a short text (an alias of a list of aliases, a
 * merge key of a large map), or contain themselves. Deep nesting overflows the stack of code that walks the values.
 *
 * @returns the first limit that the document exceeds; undefined if it is within all of them
 */
export function boundFault(document: Document.Parsed): Fault | undefined {
  /** Number of values of each anchor, including its aliases; undefined while the anchor is still open. */
  const anchors = new Map<string, number | undefined>()
  let aliases = 0
  let repeated = 0
  let fault: Fault | undefined

  function sizeOf(node: unknown, depth: number): number {
    if (fault !== undefined) return 0
    if (isPair(node)) return sizeOf(node.key, depth) + sizeOf(node.value, depth)
    if (isAlias(node)) return sizeOfAlias(node.source, node)
    if (isScalar(node)) return anchored(node, () => 1)
    if (!isCollection(node)) return 1
    if (depth > DEEPEST) fault = { why: TOO_DEEP, offset: offsetOf(node) }
    return anchored(node, () => node.items.reduce<number>((sum, item) => sum + sizeOf(item, depth + 1), 1))
  }

  function anchored(node: Node & { readonly anchor?: string | undefined }, size: () => number): number {
    const { anchor } = node
    if (anchor !== undefined) anchors.set(anchor, undefined)
    const found = size()
    if (anchor !== undefined) anchors.set(anchor, found)
    return found
  }

  function sizeOfAlias(name: string, node: Node): number {
    const offset = offsetOf(node)
    if (anchors.has(name) && anchors.get(name) === undefined) fault = { why: `the alias *${name} is inside its own anchor`, offset }
    const size = anchors.get(name) ?? 1
    aliases++
    repeated += size
    if (aliases > MOST_ALIASES) fault = { why: `it has more than ${MOST_ALIASES} aliases`, offset }
    if (repeated > MOST_REPEATED) fault = { why: `its aliases repeat more than ${MOST_REPEATED} values, up to *${name}`, offset }
    return size
  }

  sizeOf(document.contents, 1)
  return fault
}

/** Returns why the values of a document are nested too deeply: aliases within anchors can nest deeper than the text. */
export function levelsFault(value: unknown): string | undefined {
  return nests(value, DEEPEST) ? TOO_DEEP : undefined
}

function nests(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => nests(member, levels - 1))
}

function offsetOf({ range }: Node): number {
  return range?.[0] ?? 0
}
