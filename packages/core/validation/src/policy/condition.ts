import { type CelEnvironment, type CelType, type Compiled, createCelEnvironment } from '@tranche/cel'

/** Names that a condition may use. */
export interface ConditionNames {
  /** Source of `result`: a list of numbers from Prometheus, any JSON from an HTTP server. */
  readonly source: 'prometheus' | 'http'
  /** Names of the members of `args`, all of them text. */
  readonly args: readonly string[]
}

/**
 * Compiles `successCondition` or `failureCondition` over `result`, `status` (of the HTTP response) and `args`.
 *
 * @returns a program of type bool, or `dyn` when the type depends on the response; else the error and its position
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
  return { ok: false, error: `it is a ${compiled.program.type}, and a condition must be true or false` }
}

/** Environments are cached: each costs milliseconds and a megabyte, and most conditions use the same arguments. */
function createEnvironment(source: ConditionNames['source'], args: readonly string[]): CelEnvironment {
  return createCelEnvironment({
    result: source === 'prometheus' ? { kind: 'list', of: { kind: 'double' } } : { kind: 'dyn' },
    status: { kind: 'int' },
    args: { kind: 'object', fields: Object.fromEntries(args.map((name): [string, CelType] => [name, { kind: 'string' }])) },
  })
}

/** Maximum characters of all cached conditions; a compiled one takes a few hundred bytes for each. */
const MOST_CHARACTERS = 100_000
/** Maximum characters of the argument names of all cached environments. */
const MOST_NAMES = 20_000
/** Minimum size that a cache entry counts for, in characters. */
const LEAST_SIZE = 500

/** Cache by key, bounded by the total length of the keys in characters. */
interface Kept<T> {
  readonly values: Map<string, T>
  characters: number
}

// Every measurement evaluates the same conditions again.
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
