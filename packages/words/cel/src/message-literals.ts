/** Message types that expressions can construct, with their fields: `{JSONPatch: ['op', 'path']}` for `JSONPatch{op: 'add', path: '/a'}`. */
export type CelMessages = Readonly<Record<string, readonly string[]>>

const TOKENS = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/\/[^\n]*|[A-Za-z_][\w.]*|\s+|[\s\S]/g

/**
 * Rewrites messages to maps, because the library does not support messages: `JSONPatch{op: 'add'}` becomes `{"op": 'add'}`.
 *
 * @throws {Error} for a field that a message does not have
 */
export function messagesAsMaps(expression: string, messages: CelMessages): string {
  const tokens = expression.match(TOKENS) ?? []
  const open: (readonly string[] | null)[] = []
  let before = ''
  return tokens
    .map((token, index) => {
      if (isBlank(token)) return token
      const next = nextToken(tokens, index)
      const written = rewritten(token, { messages, before, next, fields: open.at(-1) ?? null })
      if ('([{'.includes(token)) open.push(token === '{' ? (Object.hasOwn(messages, before) ? (messages[before] ?? null) : null) : null)
      else if (')]}'.includes(token)) open.pop()
      before = token
      return written
    })
    .join('')
}

interface Place {
  readonly messages: CelMessages
  /** Neighboring tokens. */
  readonly before: string
  readonly next: string
  /** Fields of the directly enclosing message; null outside of messages. */
  readonly fields: readonly string[] | null
}

function rewritten(token: string, { messages, before, next, fields }: Place): string {
  if (next === '{' && Object.hasOwn(messages, token)) return ''
  if (fields === null || next !== ':' || (before !== '{' && before !== ',')) return token
  if (!fields.includes(token)) throw new Error(`undefined field '${token}'`)
  return JSON.stringify(token)
}

function nextToken(tokens: readonly string[], index: number): string {
  for (let at = index + 1; at < tokens.length; at++) if (!isBlank(tokens[at]!)) return tokens[at]!
  return ''
}

function isBlank(token: string): boolean {
  return /^\s|^\/\//.test(token)
}
