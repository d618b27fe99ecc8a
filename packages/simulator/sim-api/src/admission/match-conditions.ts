import { type CelProgram, createCelEnvironment } from '@tranche/cel'
import { objectOrEmpty } from '../model/json.ts'
import { createKeptPrograms } from './kept-programs.ts'
import type { MatchCondition } from './webhook-configuration.ts'

const environment = () => createCelEnvironment({ object: { kind: 'dyn' }, oldObject: { kind: 'dyn' }, request: { kind: 'dyn' } })

/** @returns why the expression of a condition is invalid; undefined when it is valid */
export function conditionFault(expression: string): string | undefined {
  const compiled = environment().compile(expression)
  if (!compiled.ok) return compiled.error
  return compiled.program.type === 'bool' || compiled.program.type === 'dyn' ? undefined : 'must evaluate to bool'
}

/**
 * @param request of an AdmissionReview
 * @returns whether all conditions hold; one false condition decides, even if others fail to evaluate
 * @throws {Error} when none is false and one cannot be evaluated
 */
export function createConditions(): (conditions: readonly MatchCondition[], request: object) => boolean {
  const programOf = createKeptPrograms(compiled)
  return (conditions, request) => {
    const { object, oldObject } = objectOrEmpty(request)
    let fault: string | undefined
    for (const { expression } of conditions) {
      const program = programOf(expression)
      const result = typeof program === 'string' ? { ok: false as const, error: program } : program.evaluate({ object, oldObject, request })
      if (!result.ok) fault ??= `expression '${expression}' resulted in error: ${result.error}`
      else if (result.value !== true) return false
    }
    if (fault !== undefined) throw new Error(fault)
    return true
  }
}

function compiled(expression: string): CelProgram | string {
  const result = environment().compile(expression)
  return result.ok ? result.program : result.error
}
