/** Maximum nesting depth of a body, as that of API servers. @see sigs.k8s.io/json */
const DEEPEST_BODY = 10_000

/** Facts about a JSON text that its value does not show at once. */
export interface JsonShape {
  /** Paths of fields that occur more than once in one object, in order: `spec.replicas`, `spec.steps[0].pause`. */
  readonly duplicateFields: readonly string[]
  /** Number of objects and lists within each other. */
  readonly levels: number
}

/**
 * Reads the shape of a text, level by level.
 *
 * @param text valid JSON
 * @throws {RangeError} when the text is nested more than 10,000 levels deep
 */
export function jsonShapeOf(text: string): JsonShape {
  const duplicateFields: string[] = []
  const stack: Level[] = []
  let levels = 0
  for (const token of text.matchAll(tokens)) {
    readToken(token[0], stack, duplicateFields)
    if (stack.length > levels) levels = stack.length
    if (levels > DEEPEST_BODY) throw new RangeError('exceeded max depth')
  }
  return { duplicateFields, levels }
}

/** Open object or list; `names` is absent in a list, `at` is the current field or index. */
interface Level {
  readonly names?: Set<string>
  at: string | number
  expectsName: boolean
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],]/g

function readToken(token: string, stack: Level[], found: string[]): void {
  const level = stack.at(-1)
  if (token === '{') stack.push({ names: new Set(), at: '', expectsName: true })
  else if (token === '[') stack.push({ at: 0, expectsName: false })
  else if (token === '}' || token === ']') stack.pop()
  else if (token === ',') nextEntry(level)
  else if (level?.expectsName === true) readName(JSON.parse(token) as string, level, stack, found)
}

function nextEntry(level: Level | undefined): void {
  if (level === undefined) return
  if (typeof level.at === 'number') level.at++
  else level.expectsName = true
}

function readName(name: string, level: Level, stack: readonly Level[], found: string[]): void {
  level.at = name
  level.expectsName = false
  if (level.names?.has(name) === true) found.push(pathOf(stack))
  level.names?.add(name)
}

function pathOf(stack: readonly Level[]): string {
  return stack
    .map(({ at }) => (typeof at === 'number' ? `[${at}]` : `.${at}`))
    .join('')
    .slice(1)
}
