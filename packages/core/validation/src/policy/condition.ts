import { type CelEnvironment, type CelType, type Compiled, createCelEnvironment } from '@tranche/cel'

/** What a condition may name. */
export interface ConditionNames {
  /** Of whom the answer is: the samples of Prometheus are a list of numbers, the answer of a server is any JSON. */
  readonly source: 'prometheus' | 'http'
  /** Names below `args`, all of them text. */
  readonly args: readonly string[]
}

/**
 * Compiles `successCondition` or `failureCondition` over `result`, `status` (of the HTTP answer) and `args`.
 *
 * @returns a program that is true or false, or `dyn` where only the answer tells; else the error, with its place
 */
export function compileCondition(expression: string, { source, args }: ConditionNames): Compiled {
  const scope = [source, ...args.toSorted()].join(' ')
  return kept(conditions, MOST_CHARACTERS, `${scope}: ${expression}`, () => {
    const environment = kept(environments, MOST_NAMES, scope, () => createEnvironment(source, args))
    return conditionOf(environment.compile(expression))
  })
}

function conditionOf(compiled: Compiled): Compiled {
  if (!compiled.ok) return { ok: false, error: compiled.error.toWellFormed() }
  if (compiled.program.type === 'bool' || compiled.program.type === 'dyn') return compiled
  return { ok: false, error: `it is a ${compiled.program.type}, and a condition is true or false` }
}

/** An environment takes milliseconds and a megabyte to make, and most conditions name the same arguments. */
function createEnvironment(source: ConditionNames['source'], args: readonly string[]): CelEnvironment {
  return createCelEnvironment({
    result: source === 'prometheus' ? { kind: 'list', of: { kind: 'double' } } : { kind: 'dyn' },
    status: { kind: 'int' },
    args: { kind: 'object', fields: Object.fromEntries(args.map((name): [string, CelType] => [name, { kind: 'string' }])) },
  })
}

/** Texts of all conditions that are kept compiled, in characters; a compiled one takes some hundred bytes for each. */
const MOST_CHARACTERS = 100_000
/** Names of the arguments of all environments that are kept, in characters. */
const MOST_NAMES = 20_000
/** The least that an entry counts for, in characters. */
const LEAST_SIZE = 500

/** Values by their keys, bounded by the length of all keys together: what is long takes more. */
interface Kept<T> {
  readonly values: Map<string, T>
  characters: number
}

// Conditions are asked about again with every measurement.
const conditions: Kept<Compiled> = { values: new Map(), characters: 0 }
const environments: Kept<CelEnvironment> = { values: new Map(), characters: 0 }

function kept<T>(known: Kept<T>, most: number, key: string, make: () => T): T {
  const before = known.values.get(key)
  if (before !== undefined) return before
  const made = make()
  const size = Math.max(key.length, LEAST_SIZE)
  if (size > most) return made
  if (known.characters + size > most) {
    known.values.clear()
    known.characters = 0
  }
  known.values.set(key, made)
  known.characters += size
  return made
}
