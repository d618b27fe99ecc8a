/** Maximum total length of the expressions that are kept compiled, in characters; a compiled one takes some hundred bytes per character. */
const MOST_CHARACTERS = 100_000

/**
 * Cache of compiled expressions, by text. Bounded by total length instead of number, because an expression of a megabyte costs as much
 * memory as many short ones.
 *
 * @returns function that returns the cached program of an expression, or compiles it
 */
export function createKeptPrograms<P>(compile: (expression: string) => P): (expression: string) => P {
  const programs = new Map<string, P>()
  let characters = 0
  return (expression) => {
    const known = programs.get(expression)
    if (known !== undefined) return known
    const program = compile(expression)
    if (expression.length > MOST_CHARACTERS) return program
    if (characters + expression.length > MOST_CHARACTERS) {
      programs.clear()
      characters = 0
    }
    programs.set(expression, program)
    characters += expression.length
    return program
  }
}
