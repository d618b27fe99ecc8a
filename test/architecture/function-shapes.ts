import { literals, type SourceFile } from './source-tree.ts'

/** A named function of a file. */
export interface FunctionShape {
  /** Path, line and name. */
  readonly where: string
  readonly lines: number
}

const declaration = /^\s*(?:export )?(?:async )?function\*? (\w+)/
const bound = /^\s*(?:export )?const (\w+) = (?:async )?(?:\([^)]*\)|\w+)(?:: [^=]+)? => \{/
const method = /^ {2}(?:static |override |readonly |private )*(?:async )?(?:get |set )?\*?(#?\w+)\(.*(?:\{|\($|,)\s*$/
const keywords = new Set(['if', 'for', 'while', 'switch', 'catch', 'return', 'function', 'super', 'await', 'describe', 'it'])

/**
 * Finds the named functions of a file (declarations, methods, functions bound to a name) by their first line and their braces: a small
 * scanner instead of a compiler. Counts from the line that opens the body to the line that closes its braces.
 */
export function functionsOf(file: SourceFile): readonly FunctionShape[] {
  const lines = withoutLiterals(file.code).split('\n')
  return lines.flatMap((line, index) => {
    const name = nameOfFunction(line)
    return name === null ? [] : [{ where: `${file.path}:${index + 1} ${name}`, lines: lengthOfBlock(lines, index) }]
  })
}

function nameOfFunction(line: string): string | null {
  const name = (declaration.exec(line) ?? bound.exec(line) ?? method.exec(line))?.[1]
  return name === undefined || keywords.has(name) || (method.test(line) && !line.trimEnd().endsWith('{') && !declaration.test(line))
    ? null
    : name
}

function lengthOfBlock(lines: readonly string[], first: number): number {
  let depth = 0
  for (let index = first; index < lines.length; index++) {
    for (const character of lines[index] ?? '') {
      if ('{(['.includes(character)) depth++
      if ('})]'.includes(character)) depth--
    }
    if (depth <= 0 && (lines[index] ?? '').trimEnd().endsWith('}')) return index - first + 1
  }
  return lines.length - first
}

function withoutLiterals(code: string): string {
  return code.replace(literals, (text) => text.replace(/[^\n]/g, ' '))
}
