/** A deliberate fault, and the tests that must notice it. */
export interface Mutant {
  /** The rule or guarantee that it breaks: `F2`, `G5` …; several mutants may break one. */
  readonly rule: string
  /** The fault, in the present tense. */
  readonly fault: string
  readonly file: string
  /** Text that occurs exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Test files of which at least one must fail. */
  readonly tests: readonly string[]
}
