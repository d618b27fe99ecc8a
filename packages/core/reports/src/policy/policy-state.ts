import type { PolicyState, Rollout } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'

/** @returns whether the policy of a Rollout is valid and usable; undefined without one, and before the controller has observed it */
export function policyStateOf({ metadata, status }: Rollout): PolicyState | undefined {
  const { name, generation, message } = status?.policy ?? {}
  if (name === undefined || name !== metadata.annotations?.[rolloutAnnotations.releasePolicy]) return undefined
  return { valid: generation !== undefined, usable: message === undefined, ...(message !== undefined && { message }) }
}
