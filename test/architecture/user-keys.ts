import { type Node, parseSync } from 'oxc-parser'
import type { SourceFile } from './source-tree.ts'

/** Names of values that are maps with keys of users. */
const mapOfUser = /(?:labels|annotations|nodeSelector)$/i

/** Tables of our own with a constant key: `daemonSetAnnotations.paused`. */
const tableOfKeys = /^(?:daemonSet|rollout|hook|kruise)Annotations$/

/**
 * Finds reads by a key that is no constant, which also return members that every object inherits. They are of labels, annotations and node
 * selectors, or of tables at the top of a file with any text as key. The operator `in` counts, too.
 *
 * @returns path, line and text of each
 */
export function inheritingReadsOf({ path, text }: SourceFile): readonly string[] {
  const { program } = parseSync(path, text)
  const tables = tablesIn(program, text)
  return [...nodesOf(program)].filter((node) => inherits(node, tables)).map((node) => `${path}:${lineOf(text, node)} ${textOf(text, node)}`)
}

function inherits(node: Node, tables: ReadonlyMap<string, boolean>): boolean {
  if (node.type === 'BinaryExpression' && node.operator === 'in') return !isConstant(node.left)
  if (node.type !== 'MemberExpression' || !node.computed || isConstant(node.property)) return false
  const name = nameOf(node.object)
  return tables.get(name) ?? (mapOfUser.test(name) && !tableOfKeys.test(name))
}

/** Literals, names in capitals, and members of our tables of keys. */
function isConstant(node: Node): boolean {
  if (node.type === 'Identifier') return /^[A-Z][A-Z\d_]*$/.test(node.name)
  if (node.type === 'MemberExpression' && !node.computed) return tableOfKeys.test(nameOf(node.object))
  return node.type === 'Literal' || node.type === 'PrivateIdentifier'
}

/** Name of a value: the last one of `daemonSet.metadata.labels`. */
function nameOf(node: Node): string {
  switch (node.type) {
    case 'Identifier':
      return node.name
    case 'MemberExpression':
      return node.computed ? '' : nameOf(node.property)
    case 'TSNonNullExpression':
    case 'TSAsExpression':
    case 'ParenthesizedExpression':
    case 'ChainExpression':
      return nameOf(node.expression)
    case 'LogicalExpression':
      return nameOf(node.left)
    default:
      return ''
  }
}

/** Constants at the top of a file, and whether their type is a record with any text as key. */
function tablesIn(program: Node, text: string): ReadonlyMap<string, boolean> {
  const declarations =
    program.type === 'Program' ? program.body.map((one) => ('declaration' in one && one.declaration ? one.declaration : one)) : []
  const constants = declarations.flatMap((one) => (one.type === 'VariableDeclaration' ? one.declarations : []))
  return new Map(
    constants.flatMap(({ id }): [string, boolean][] =>
      id.type === 'Identifier' && id.typeAnnotation ? [[id.name, /^: (?:\w+<)*Record<string,/.test(textOf(text, id.typeAnnotation))]] : [],
    ),
  )
}

function* nodesOf(node: Node): Generator<Node> {
  yield node
  for (const part of Object.values(node)) for (const one of [part].flat() as unknown[]) if (isNode(one)) yield* nodesOf(one)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function textOf(text: string, { start, end }: { readonly start: number; readonly end: number }): string {
  return text.slice(start, end).replaceAll(/\s+/g, ' ')
}

function lineOf(text: string, { start }: Node): number {
  return text.slice(0, start).split('\n').length
}
