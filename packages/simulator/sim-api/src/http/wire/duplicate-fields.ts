import { DEEPEST } from '../../model/json.ts'

/**
 * Finds fields that occur more than once in one JSON object.
 *
 * @param text valid JSON
 * @returns paths in order: `spec.replicas`, `spec.steps[0].pause`
 * @throws {RangeError} when the text is nested more than {@link DEEPEST} levels deep
 */
export function duplicateFields(text: string): readonly string[] {
  const found: string[] = []
  const stack: Level[] = []
  for (const token of text.matchAll(tokens)) {
    readToken(token[0], stack, found)
    if (stack.length > DEEPEST) throw new RangeError('exceeded max depth')
  }
  return found
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
