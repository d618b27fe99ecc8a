import { type CallExpression, type Node, parseSync, type StringLiteral, type TemplateLiteral, Visitor } from 'oxc-parser'

/** A text for people inside a file. */
export interface Prose {
  /** Where `text` begins in the file. */
  readonly start: number
  /** As long as its part of the file. Everything else is blank, or `X` in place of a word. */
  readonly text: string
}

/** A call of a logger whose message is not constant. */
export interface ChangingMessage {
  readonly start: number
  readonly source: string
}

/** What one file says. */
export interface FileTexts {
  readonly prose: readonly Prose[]
  readonly changingMessages: readonly ChangingMessage[]
}

/** Ends a block: sentences do not cross it. */
export const blockEnd = '¶'

/** @returns the texts of a file, by the ending of its name; none of a file of another kind */
export function textsOf(path: string, source: string): FileTexts {
  if (/\.(?:ts|mts|mjs)$/.test(path)) return textsOfTypeScript(path, source)
  if (path.endsWith('.md')) return proseOnly([markdownOf(path, source)])
  if (/(?:values\.schema|\/dashboard-[a-z]+)\.json$/.test(path))
    return proseOnly(valuesOf(source, /"(?:description|title)": "((?:[^"\\]|\\.)*)"/g))
  if (path.endsWith('/NOTES.txt')) return proseOnly([{ start: 0, text: maskNames(maskTemplates(source.replace(/^ {4,}.*/gm, blank))) }])
  if (/\.(?:yaml|yml|tpl|sh)$|^\.ci\/run$/.test(path)) return proseOnly(yamlOf(source))
  return proseOnly([])
}

function proseOnly(prose: readonly Prose[]): FileTexts {
  return { prose, changingMessages: [] }
}

const testFunctions = new Set(['describe', 'it', 'test', 'scenario', 'story'])

function textsOfTypeScript(path: string, source: string): FileTexts {
  const { comments, program } = parseSync(path, source)
  const prose: Prose[] = commentsOf(comments, source)
  const changingMessages: ChangingMessage[] = []
  const seen = new Set<Node>()
  const addString = (node: Node, isName = false): void => {
    if (seen.has(node)) return
    const text = stringOf(node, source, seen)
    if (isName || readsAsSentence(text)) prose.push({ start: node.start, text: maskNames(text) })
  }
  new Visitor({
    ImportDeclaration: (node) => void seen.add(node.source),
    ExportNamedDeclaration: (node) => void (node.source !== null && seen.add(node.source)),
    ExportAllDeclaration: (node) => void seen.add(node.source),
    Property(node) {
      // Deliberate faults quote the code that they change.
      if (path.startsWith('scripts/mutants/') && /^(?:find|replace)$/.test(lastNameOf(node.key)))
        for (const part of [node.value, ...partsOf(node.value)]) seen.add(part)
    },
    CallExpression(node) {
      const [first] = node.arguments
      if (first !== undefined && testFunctions.has(rootNameOf(node.callee)) && isText(first)) addString(first, true)
      const message = node.arguments.at(-1)
      if (isLoggerCall(node) && message !== undefined && !isConstant(message))
        changingMessages.push({ start: message.start, source: source.slice(message.start, message.end) })
    },
    BinaryExpression(node) {
      if (node.operator === '+' && partsOf(node).some(isText)) addString(node)
    },
    Literal(node) {
      if (typeof node.value === 'string') addString(node, path.includes('/src/') && /^(?:some|no|any|every)body$/.test(node.value))
    },
    TemplateLiteral: (node) => addString(node),
  }).visit(program)
  return { prose, changingMessages }
}

/** @returns comments as blocks; line comments that follow each other are one */
function commentsOf(comments: readonly { type: 'Line' | 'Block'; start: number; end: number }[], source: string): Prose[] {
  const runs: { type: string; start: number; end: number }[] = []
  for (const { type, start, end } of comments) {
    const last = runs.at(-1)
    if (type === 'Line' && last?.type === 'Line' && /^\n[ \t]*$/.test(source.slice(last.end, start))) last.end = end
    else runs.push({ type, start, end })
  }
  return runs.map(({ type, start, end }) => ({ start, text: maskComment(source.slice(start, end), type) }))
}

function maskComment(comment: string, type: string): string {
  const text =
    type === 'Line'
      ? comment.replace(/^[ \t]*\/\/+/gm, blank)
      : comment.replace(/^\/\*+|\*+\/$/g, blank).replace(/^[ \t]*\*(?!\*)/gm, blank)
  return maskNames(
    text
      .replace(/```[\s\S]*?```/g, blank)
      .replace(/@example[\s\S]*?(?=\n\s*@|$)/g, blank)
      .replace(/(?:biome|oxlint|eslint)-\S+[^:\n]*|@ts-\S+|#region|#endregion/g, blank)
      .replace(/@param\s+\S+|(?<!\{)@\w+/g, startBlock)
      .replace(/^\s*(?:[-*]|\d+\.)(?=\s)/gm, startBlock),
  )
}

/** @returns a string, a template, or strings that are added up, with values as `X` and breaks of lines as ends of blocks */
function stringOf(node: Node, source: string, seen: Set<Node>): string {
  let text = ''
  for (const part of partsOf(node)) {
    text += blank(source.slice(node.start + text.length, part.start))
    seen.add(part)
    text += isText(part) ? rawOf(part, source) : solid(source.slice(part.start, part.end))
  }
  seen.add(node)
  return text + blank(source.slice(node.start + text.length, node.end))
}

function rawOf(node: Node, source: string): string {
  const raw = source.slice(node.start + 1, node.end - 1)
  let text = raw
  if (node.type === 'TemplateLiteral') {
    text = ''
    for (const quasi of node.quasis) {
      // In TypeScript, the parser counts the delimiters as part of the quasi.
      const from = quasi.start - node.start - (source.startsWith(quasi.value.raw, quasi.start + 1) ? 0 : 1)
      text += solid(raw.slice(text.length, from)) + quasi.value.raw
    }
    text += solid(raw.slice(text.length))
  }
  const escaped = text.replace(/\\n/g, blockEnd.repeat(2)).replace(/\\(?:u\{[\da-f]+\}|u[\da-f]{4}|x[\da-f]{2}|[\s\S])/gi, blank)
  return ` ${escaped.replaceAll('\n', blockEnd)} `
}

function partsOf(node: Node): readonly Node[] {
  return node.type === 'BinaryExpression' && node.operator === '+' ? [...partsOf(node.left), ...partsOf(node.right)] : [node]
}

function isText(node: Node): node is StringLiteral | TemplateLiteral {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string')
}

/** Two words beside each other, and little that only code has. */
function readsAsSentence(text: string): boolean {
  return /[a-z]{2,}[,;:.)]?\s+[(]?[a-z]+/i.test(text) && !/[{};]\s*¶|=>|\bconst \w+ =/.test(text)
}

function rootNameOf(node: Node): string {
  if (node.type === 'Identifier') return node.name
  if (node.type === 'MemberExpression') return rootNameOf(node.object)
  if (node.type === 'CallExpression') return rootNameOf(node.callee)
  return node.type === 'TaggedTemplateExpression' ? rootNameOf(node.tag) : ''
}

const levels = new Set(['debug', 'info', 'warn', 'error'])

function isLoggerCall({ callee, arguments: args }: CallExpression): boolean {
  if (callee.type !== 'MemberExpression' || args.length < 2 || !/^(?:log|logger)$/.test(lastNameOf(callee.object))) return false
  return callee.computed || levels.has(lastNameOf(callee.property))
}

function lastNameOf(node: Node): string {
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return node.name
  return node.type === 'MemberExpression' ? lastNameOf(node.property) : ''
}

function isConstant(node: Node): boolean {
  if (node.type === 'ConditionalExpression') return isConstant(node.consequent) && isConstant(node.alternate)
  return isText(node) && (node.type !== 'TemplateLiteral' || node.expressions.length === 0)
}

function markdownOf(path: string, source: string): Prose {
  const lines = source
    .replace(/^---\n[\s\S]*?\n---\n/, blank)
    .replace(/^([ \t]*)(```|~~~)[\s\S]*?^\1?\2/gm, blank)
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/`[^`\n]+(?:\n[^`\n]+)?`/g, solid)
    // The last column of the glossary lists words that are not used.
    .replace(/^\|.*\|$/gm, (row) => (path === 'docs/reference/glossary.md' ? row.replace(/\|[^|]*\|$/, blank) : row))
    .replace(/^#+ .*\n/gm, (line) => line.replace(/^#+|\n/g, (part) => blockEnd.repeat(part.length)))
    .replace(/^[ \t]*(?:[-*+]|\d+\.)(?=\s)/gm, startBlock)
    .replace(/^\[[^\]]+\]: .*/gm, blank)
    .replace(/\]\([^()\s]+(?:\s+"[^"]*")?\)/g, blank)
    .replace(/<\/?[a-z][^>\n]*>/gi, blank)
    .replace(/^>|[[\]*]|(?<!\w)_|_(?!\w)/gm, blank)
    .replaceAll('|', blockEnd)
  return { start: 0, text: maskNames(lines) }
}

/** Comments, and values of keys that hold text for people. */
function yamlOf(source: string): readonly Prose[] {
  const text = source.replace(/^#!.*/, blank)
  const inTemplates = [...text.matchAll(/\{\{-?\s*\/\*[\s\S]*?\*\/\s*-?\}\}/g)].map((match) => ({
    start: match.index,
    text: maskNames(match[0].replace(/[{}/*-]/g, ' ')),
  }))
  const comments = [...text.matchAll(/^[ \t]*#[^\n]*(?:\n[ \t]*#[^\n]*)*|(?<=\s)# [^\n]*/gm)].map((match) => ({
    start: match.index,
    text: maskNames(match[0].replace(/^[ \t]*#+/gm, blank).replace(/\n[ \t]*-(?=\s)|\n[ \t]+(?=[\w.-]+: )/g, startBlock)),
  }))
  const key = /^[ \t]*(?:- )?(?:description|summary|message|title): (?:[>|][+-]?\n((?:[ \t]{4,}.*\n)+)|(.*(?:\n[ \t]{4,}[^:\n]+(?=\n))*))/gm
  return [...inTemplates, ...comments, ...valuesOf(text, key)]
}

function valuesOf(source: string, pattern: RegExp): readonly Prose[] {
  return [...source.matchAll(pattern)].map((match) => {
    const value = match[1] ?? match[2] ?? ''
    return { start: match.index + match[0].lastIndexOf(value), text: maskNames(maskTemplates(value)) }
  })
}

function maskTemplates(text: string): string {
  return text.replace(/\{\{[\s\S]*?\}\}/g, solid)
}

/** Code, links, names in quotes, flags, paths and identifiers count as one word each, and match no rule. */
function maskNames(text: string): string {
  return text
    .replace(/`[^`¶]+`/g, solid)
    .replace(/\{@link[^}]*\}/g, solid)
    .replace(/https?:\/\/[^\s)>]+/g, solid)
    .replace(/(?<![\w])(["'])[^"'\s]+\1(?!\w)/g, solid)
    .replace(/(?<![\w-])--?[a-z][\w-]*/gi, solid)
    .replace(/[\w@#$%-]*\w[./:_=@#]\w[^\s,;)¶]*/g, solid)
    .replace(/\b\w*[a-z][A-Z]\w*\b/g, solid)
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ')
}

function startBlock(text: string): string {
  return text.replace(/[^\n]/g, ' ').replace(/ (?=\s*$)/, blockEnd)
}

function solid(text: string): string {
  return 'X'.repeat(text.length)
}
