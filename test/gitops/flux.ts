import { readFileSync } from 'node:fs'
import type { Rollout } from '@tranche/api-schema'
import { type CelProgram, createCelEnvironment } from '@tranche/cel'
import type { DaemonSet } from '@tranche/kube-types'
import { parse } from 'yaml'

/** One entry of `spec.healthCheckExprs` of a Kustomization of Flux. */
export interface HealthCheckExpressions {
  readonly apiVersion: string
  readonly kind: string
  readonly inProgress?: string
  readonly failed?: string
  readonly current: string
}

/** Result of the expressions in Flux; `error` if one of them cannot be evaluated, which Flux reports and treats as not Current. */
export type FluxVerdict = 'InProgress' | 'Failed' | 'Current' | 'error'

/** The parts of the example's Kustomization that decide what Flux waits for. */
interface Waiting {
  readonly healthChecks: readonly { readonly kind: string }[]
  readonly healthCheckExprs: readonly HealthCheckExpressions[]
}

const environment = createCelEnvironment({ metadata: { kind: 'dyn' }, spec: { kind: 'dyn' }, status: { kind: 'dyn' } })
const example = readExample()

/**
 * Status of an object in Flux by the expressions of the example for its kind. It is InProgress while the generation is not observed.
 * After that it is the first of `inProgress`, `failed` and `current` that holds, or else InProgress.
 *
 * @throws if an expression does not compile
 * @see https://github.com/fluxcd/flux2/blob/main/rfcs/0009-custom-health-checks/README.md
 */
export function fluxVerdict({ kind, metadata, spec, status }: Rollout | DaemonSet): FluxVerdict {
  if (status?.observedGeneration !== undefined && status.observedGeneration !== metadata.generation) return 'InProgress'
  const expressions = expressionsOf(kind ?? '')
  for (const [member, verdict] of order) {
    const expression = expressions[member]
    if (expression === undefined) continue
    const result = compiled(expression).evaluate({ metadata, spec, status })
    if (!result.ok) return 'error'
    if (result.value === true) return verdict
  }
  return 'InProgress'
}

/**
 * Result of one check of the objects that the example's Kustomization waits for. It fails with the first object that has failed, and
 * succeeds with the last one that is Current.
 */
export function fluxLook(objects: readonly (Rollout | DaemonSet)[]): 'waits' | 'failed' | 'succeeded' {
  const seen = example.healthChecks.map(({ kind }) => {
    const object = objects.find((one) => one.kind === kind)
    return object === undefined ? 'InProgress' : fluxVerdict(object)
  })
  if (seen.includes('Failed')) return 'failed'
  return seen.every((verdict) => verdict === 'Current') ? 'succeeded' : 'waits'
}

const order = [
  ['inProgress', 'InProgress'],
  ['failed', 'Failed'],
  ['current', 'Current'],
] as const

function expressionsOf(kind: string): HealthCheckExpressions {
  const found = example.healthCheckExprs.find((one) => one.kind === kind)
  if (found === undefined) throw new Error(`the example has no expressions for the kind ${kind}`)
  return found
}

function compiled(expression: string): CelProgram {
  const result = environment.compile(expression)
  if (!result.ok) throw new Error(`${expression}: ${result.error}`)
  return result.program
}

function readExample(): Waiting {
  const text = readFileSync('examples/gitops/repository/clusters/production/flux/node-agent.yaml', 'utf8')
  return (parse(text) as { readonly spec: Waiting }).spec
}
