/** The most characters of all expressions that are kept compiled; a compiled one takes some hundred bytes for each. */
const MOST_CHARACTERS = 100_000

/**
 * Compiled expressions by their text. They are bounded by their length together, not by their number: an expression of a megabyte counts for
 * what it takes.
 *
 * @returns what takes the program of an expression from those that are kept, or compiles it
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
