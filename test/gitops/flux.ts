import type { Rollout } from '@tranche/api-schema'
import { type CelProgram, createCelEnvironment } from '@tranche/cel'

/** One entry of `spec.healthCheckExprs` of a Kustomization of Flux. */
export interface HealthCheckExpressions {
  readonly apiVersion: string
  readonly kind: string
  readonly inProgress?: string
  readonly failed?: string
  readonly current: string
}

/** What Flux says by the expressions; `error` where one of them cannot be evaluated, which Flux tells and counts as not Current. */
export type FluxVerdict = 'InProgress' | 'Failed' | 'Current' | 'error'

const environment = createCelEnvironment({ metadata: { kind: 'dyn' }, spec: { kind: 'dyn' }, status: { kind: 'dyn' } })

/**
 * What Flux says of a Rollout: InProgress while its generation is not observed, then the first of `inProgress`, `failed` and `current`
 * that holds, else InProgress.
 *
 * @throws where an expression does not compile
 * @see https://github.com/fluxcd/flux2/blob/main/rfcs/0009-custom-health-checks/README.md
 */
export function fluxVerdict(expressions: HealthCheckExpressions, { metadata, spec, status }: Rollout): FluxVerdict {
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation) return 'InProgress'
  for (const [member, verdict] of order) {
    const expression = expressions[member]
    if (expression === undefined) continue
    const result = compiled(expression).evaluate({ metadata, spec, status })
    if (!result.ok) return 'error'
    if (result.value === true) return verdict
  }
  return 'InProgress'
}

const order = [
  ['inProgress', 'InProgress'],
  ['failed', 'Failed'],
  ['current', 'Current'],
] as const

function compiled(expression: string): CelProgram {
  const result = environment.compile(expression)
  if (!result.ok) throw new Error(`${expression}: ${result.error}`)
  return result.program
}
