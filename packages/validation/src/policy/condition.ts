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
  return kept(conditions, MOST_CONDITIONS, `${scope}: ${expression}`, () => {
    const environment = kept(environments, MOST_ENVIRONMENTS, scope, () => createEnvironment(source, args))
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

/** Conditions are asked about again with every measurement. */
const MOST_CONDITIONS = 500
const MOST_ENVIRONMENTS = 20
const conditions = new Map<string, Compiled>()
const environments = new Map<string, CelEnvironment>()

function kept<T>(known: Map<string, T>, most: number, key: string, make: () => T): T {
  const before = known.get(key)
  if (before !== undefined) return before
  if (known.size >= most) known.clear()
  const made = make()
  known.set(key, made)
  return made
}
