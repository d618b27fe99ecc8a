import { Environment, EvaluationError } from '@marcbachmann/cel-js'
import { boundSizes } from './bounded-sizes.ts'
import { boundSteps, type CelNode, MOST_STEPS, wasTooCostly, withStepLimit } from './bounded-steps.ts'
import type { CelType } from './cel-type.ts'
import { compileErrorText, runtimeErrorText } from './error-texts.ts'
import { celFieldName } from './field-names.ts'
import { type CelMessages, messagesAsMaps } from './message-literals.ts'
import { registerLibraries } from './libraries/register.ts'
import { boundPatterns } from './patterns.ts'
import { isSameValue } from './same-value.ts'
import { toCelValue, type ObjectClasses } from './values.ts'

/** Compiles expressions over variables whose types are known. */
export interface CelEnvironment {
  compile(expression: string): Compiled
}

/** What came of compiling an expression. `error` is worded as Kubernetes words it, with the place. */
export type Compiled = { readonly ok: true; readonly program: CelProgram } | { readonly ok: false; readonly error: string }

/** An expression that can be evaluated. */
export interface CelProgram {
  /** `bool`, `string`, `list<int>` …; `dyn` where only the values tell. */
  readonly type: string
  /** For cost: what the expression is made of. */
  readonly root: CelNode
  /** @returns whether the expression uses the variable */
  uses(variable: string): boolean
  /** @param variables values as JSON; a missing one makes an expression that reads it fail. An optional one that is undefined is none */
  evaluate(variables: Readonly<Record<string, unknown>>, limits?: CelLimits): CelResult
}

/** What an evaluation may cost. */
export interface CelLimits {
  /** Most steps: a step is an item of a loop, or eight characters or items that an operator goes through. @default 1,000,000 */
  readonly mostSteps?: number
}

/** A value, or what went wrong; numbers are `bigint` where they are integers. */
export type CelResult =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false
      readonly error: string
      /** It was stopped because it took more steps than it may: with more of them it may have a value. */
      readonly isTooCostly?: true
    }

let base: Environment | undefined

/**
 * @param variables what expressions may name, and of which type
 * @param messages what expressions may make beside lists and maps; each is a map for whoever takes the value
 */
export function createCelEnvironment(variables: Readonly<Record<string, CelType>>, messages: CelMessages = {}): CelEnvironment {
  base ??= registerLibraries(new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false }))
  const environment = base.clone()
  const classes: ObjectClasses = new Map()
  for (const [name, type] of Object.entries(variables)) environment.registerVariable(name, declare(environment, classes, type))
  return { compile: (expression) => compile({ environment, classes, variables, messages }, expression) }
}

interface Compiling {
  readonly environment: Environment
  readonly classes: ObjectClasses
  readonly variables: Readonly<Record<string, CelType>>
  readonly messages: CelMessages
}

function compile({ environment, classes, variables, messages }: Compiling, expression: string): Compiled {
  let parsed: ReturnType<Environment['parse']>
  try {
    parsed = environment.parse(messagesAsMaps(expression, messages))
    const checked = parsed.check()
    if (!checked.valid) return { ok: false, error: compileErrorText(expression, checked.error) }
    const root = parsed.ast as unknown as CelNode
    boundSteps(root)
    boundSizes(root)
    boundPatterns(root)
    const used = new Set(Object.keys(variables).filter((name) => new RegExp(`(?<![.\\w])${name}(?!\\w)`).test(expression)))
    const evaluate: CelProgram['evaluate'] = (values, { mostSteps = MOST_STEPS } = {}) => {
      const bound: Record<string, unknown> = {}
      for (const name of used) bound[name] = toCelValue(classes, variables[name]!, values[name])
      return evaluated(() => parsed(bound), mostSteps)
    }
    return { ok: true, program: { type: checked.type ?? 'dyn', root, uses: (name) => used.has(name), evaluate } }
  } catch (error) {
    return { ok: false, error: compileErrorText(expression, error) }
  }
}

const tooCostly: CelResult = { ok: false, error: 'operation cancelled: actual cost limit exceeded', isTooCostly: true }

function evaluated(run: () => unknown, mostSteps: number): CelResult {
  try {
    const value = withStepLimit(run, mostSteps)
    // Loops and operators go on after errors: what they found then is of no account.
    return wasTooCostly() ? tooCostly : { ok: true, value }
  } catch (error) {
    if (!(error instanceof EvaluationError || error instanceof Error)) throw error
    return wasTooCostly() ? tooCostly : { ok: false, error: runtimeErrorText(error) }
  }
}

/** @returns the name of the type in the library; object types are made known to it first */
function declare(environment: Environment, classes: ObjectClasses, type: CelType): string {
  switch (type.kind) {
    case 'timestamp':
      return 'google.protobuf.Timestamp'
    case 'duration':
      return 'google.protobuf.Duration'
    case 'list':
      return `list<${declare(environment, classes, type.of)}>`
    case 'map':
      return `map<string, ${declare(environment, classes, type.of)}>`
    case 'optional':
      return `optional<${declare(environment, classes, type.of)}>`
    case 'object':
      return declareObject(environment, classes, type)
    default:
      return type.kind
  }
}

function declareObject(environment: Environment, classes: ObjectClasses, type: CelType & { readonly kind: 'object' }): string {
  const known = classes.get(type)
  if (known !== undefined) return known.typeName
  const fields: Record<string, string> = {}
  for (const [name, fieldType] of Object.entries(type.fields)) {
    const named = celFieldName(name)
    if (named !== undefined) fields[named] = declare(environment, classes, fieldType)
  }
  const typeName = `object${classes.size + 1}`
  const ctor = class {}
  classes.set(type, { typeName, ctor })
  environment.registerType(typeName, { ctor, fields })
  environment.registerOperator(`${typeName} == ${typeName}`, isSameValue)
  return typeName
}
