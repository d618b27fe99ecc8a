import { Environment, EvaluationError } from '@marcbachmann/cel-js'
import { boundSizes } from './bounds/bounded-sizes.ts'
import { boundSteps, type CelNode, MOST_STEPS, wasTooCostly, withStepLimit } from './bounds/bounded-steps.ts'
import type { CelType } from './cel-type.ts'
import { compileErrorText, runtimeErrorText } from './error-texts.ts'
import { celFieldName } from './field-names.ts'
import { type CelMessages, messagesAsMaps } from './message-literals.ts'
import { registerLibraries } from './libraries/register.ts'
import { boundPatterns } from './bounds/patterns.ts'
import { isSameValue } from './libraries/same-value.ts'
import { toCelValue, type ObjectClasses } from './values.ts'

/** Compiles expressions over typed variables. */
export interface CelEnvironment {
  compile(expression: string): Compiled
}

/** Result of a compilation. `error` has the wording of Kubernetes, with the place. */
export type Compiled = { readonly ok: true; readonly program: CelProgram } | { readonly ok: false; readonly error: string }

/** An expression that can be evaluated. */
export interface CelProgram {
  /** Type, such as `bool`, `string` or `list<int>`; `dyn` if it is known only at run time. */
  readonly type: string
  /** Syntax tree, for the cost estimate. */
  readonly root: CelNode
  /** @returns whether the expression uses the variable */
  uses(variable: string): boolean
  /** @param variables values as JSON. Reading a missing variable fails; an undefined optional variable is none */
  evaluate(variables: Readonly<Record<string, unknown>>, limits?: CelLimits): CelResult
}

/** Limits of an evaluation. */
export interface CelLimits {
  /** Maximum number of steps. A step is an item of a loop, or eight characters or items of an operator. @default 1,000,000 */
  readonly mostSteps?: number
}

/** A value or an error; integers are `bigint`. */
export type CelResult =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false
      readonly error: string
      /** Whether it was stopped at the step limit. With a higher limit it may have a value. */
      readonly isTooCostly?: true
    }

let base: Environment | undefined

/**
 * @param variables variables of the expressions, with their types
 * @param messages message types that expressions can construct; callers get them as maps
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
    // Loops and operators continue after errors, so their results are not used then.
    return wasTooCostly() ? tooCostly : { ok: true, value }
  } catch (error) {
    if (!(error instanceof EvaluationError || error instanceof Error)) throw error
    return wasTooCostly() ? tooCostly : { ok: false, error: runtimeErrorText(error) }
  }
}

/** @returns the name of the type in the library; registers object types first */
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
