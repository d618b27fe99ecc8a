import { type CelType, type Compiled, createCelEnvironment } from '@tranche/cel'

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
  const compiled = createCelEnvironment({
    result: source === 'prometheus' ? { kind: 'list', of: { kind: 'double' } } : { kind: 'dyn' },
    status: { kind: 'int' },
    args: { kind: 'object', fields: Object.fromEntries(args.map((name): [string, CelType] => [name, { kind: 'string' }])) },
  }).compile(expression)
  if (!compiled.ok || compiled.program.type === 'bool' || compiled.program.type === 'dyn') return compiled
  return { ok: false, error: `it is a ${compiled.program.type}, and a condition is true or false` }
}
