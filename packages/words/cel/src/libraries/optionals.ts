import { type Environment, Optional } from '@marcbachmann/cel-js'
import type { CelNode } from '../bounds/bounded-steps.ts'
import { isSameValue } from './same-value.ts'

/** `optMap`, `optFlatMap`, `optional.ofNonZeroValue` and equality, which the library lacks. */
export function registerOptionals(environment: Environment): void {
  environment
    .registerFunction('optional.optMap(ast, ast): optional<dyn>', (call: MacroCall) => optionalMacro(call, false))
    .registerFunction('optional.optFlatMap(ast, ast): optional<dyn>', (call: MacroCall) => optionalMacro(call, true))
    .registerFunction('OptionalNamespace.ofNonZeroValue(A): optional<A>', (_optional: unknown, value: unknown) =>
      isZero(value) ? Optional.none() : Optional.of(value),
    )
    .registerOperator('optional<dyn> == optional<dyn>', isSameOptional)
}

function isSameOptional(one: Optional, other: Optional): boolean {
  return one.hasValue() === other.hasValue() && (!one.hasValue() || isSameValue(one.value(), other.value()))
}

/** A macro call of the library. */
interface MacroCall {
  readonly args: readonly CelNode[]
  readonly receiver: CelNode
}

/** A type of the library. */
interface LibraryType {
  readonly kind: string
  readonly valueType?: LibraryType
}

/** Lookup of variables, in the type check and in evaluations. */
interface Scope {
  forkWithVariable(name: string, type: LibraryType | undefined): Scope
  reuse(scope: Scope): Scope
  setIterValue(value: unknown, evaluator: Evaluator): Scope
}

interface Checker {
  readonly registry: { getOptionalType(type: LibraryType): LibraryType }
  check(node: CelNode, scope: Scope): LibraryType
  getType(name: string): LibraryType
}

interface Evaluator {
  run(node: CelNode, scope: Scope): unknown
}

function optionalMacro({ args, receiver }: MacroCall, isFlat: boolean): object {
  const [variable, body] = args
  let inner: Scope | undefined
  return {
    receiver,
    body,
    typeCheck(checker: Checker, _macro: unknown, scope: Scope): LibraryType {
      const type = checker.check(receiver, scope)
      inner = scope.forkWithVariable(String(variable!.args), type.kind === 'optional' ? type.valueType : checker.getType('dyn'))
      const result = checker.check(body!, inner)
      return isFlat ? result : checker.registry.getOptionalType(result)
    },
    evaluate(evaluator: Evaluator, _macro: unknown, scope: Scope): unknown {
      const optional = evaluator.run(receiver, scope)
      if (!(optional instanceof Optional)) throw new Error('no such overload')
      if (!optional.hasValue()) return Optional.none()
      const result = evaluator.run(body!, inner!.reuse(scope).setIterValue(optional.value(), evaluator))
      return isFlat ? result : Optional.of(result)
    },
  }
}

function isZero(value: unknown): boolean {
  if (value === null || value === 0n || value === 0 || value === '' || value === false) return true
  if (Array.isArray(value)) return value.length === 0
  return (value instanceof Map || value instanceof Set) && value.size === 0
}
