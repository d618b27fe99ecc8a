/** Additional fields of the library's errors. */
interface LibraryError {
  readonly message: string
  readonly code?: string
  readonly summary?: string
  readonly range?: { readonly start: number } | undefined
  readonly node?: ErrorNode | undefined
}

/** Node that the error is about. */
interface ErrorNode {
  readonly op?: string
  readonly start: number
  readonly pos: number
  readonly args?: unknown
}

/** @returns the compile error of an expression, in the wording of Kubernetes */
export function compileErrorText(expression: string, error: unknown): string {
  const { message, summary = message, code } = error as LibraryError
  const start = placeOf(expression, error as LibraryError)
  const before = expression.slice(0, start).split('\n')
  const column = before.at(-1)!.length
  const line = expression.split('\n')[before.length - 1] ?? ''
  return `compilation failed: ERROR: <input>:${before.length}:${column + 1}: ${compileFault(code, summary)}\n | ${line}\n | ${'.'.repeat(column)}^`
}

/** Kubernetes points at the operator, at the dot before a field, and at the bracket of a call. */
function placeOf(expression: string, { node, range }: LibraryError): number {
  if (node?.op === undefined) return range?.start ?? 0
  const [first, second] = Array.isArray(node.args) ? (node.args as readonly unknown[]) : []
  switch (node.op) {
    case '.':
    case '.?':
      return expression.lastIndexOf('.', node.pos)
    case 'call':
      return expression.indexOf('(', node.start)
    case 'rcall':
      return expression.indexOf('(', endOf(second))
    default:
      return first === undefined ? node.pos : Math.max(expression.indexOf(node.op, endOf(first)), node.pos)
  }
}

function endOf(node: unknown): number {
  return typeof node === 'object' && node !== null && 'end' in node ? Number(node.end) : 0
}

/** @returns the evaluation error of an expression, in the wording of Kubernetes */
export function runtimeErrorText(error: unknown): string {
  const { message, summary = message, code } = error as LibraryError
  const text = summary.split('\n')[0]!
  if (code === 'index_out_of_bounds') return `index out of bounds: ${/index (-?\d+)/.exec(text)?.[1] ?? ''}`
  return text.replace(/^No such key/, 'no such key').replace(/^Unknown variable: (.*)$/, 'no such attribute(s): $1')
}

function compileFault(code: string | undefined, summary: string): string {
  const text = summary.split('\n')[0]!
  const operator = /^no such overload: (.+) (\S+) (.+)$/.exec(text)
  if (operator !== null) return `found no matching overload for '_${operator[2]}_' applied to '(${operator[1]}, ${operator[3]})'`
  switch (code) {
    case 'no_such_key':
      return `undefined field '${text.replace(/^No such key: /, '')}'`
    case 'unknown_variable':
      return `undeclared reference to '${text.replace(/^Unknown variable: /, '')}' (in container '')`
    case 'no_matching_overload':
      return overloadFault(text)
    default:
      return code === undefined || !/token|parse|unterminated|unexpected|invalid_(escape|number)/.test(code)
        ? text
        : `Syntax error: ${text}`
  }
}

/** The library names the types with the function; a call without a receiver names a function that does not exist. */
function overloadFault(text: string): string {
  const call = /^found no matching overload for '(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(text)
  if (call === null) return text
  const [, receiver, name, types] = call
  if (receiver === undefined) return `undeclared reference to '${name}' (in container '')`
  return `found no matching overload for '${name}' applied to '${receiver}.(${types})'`
}
