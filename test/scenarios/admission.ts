import { admissionPolicies } from '@tranche/admission'
import { fieldManagers } from '@tranche/kube-types'
import type { Simulator } from '@tranche/sim'
import { type Admission, resources } from '@tranche/sim-api'
import { createAdmissionHook } from '../../apps/cli/src/dev/admission-hook.ts'

/** Admission as `tranche dev` hooks it in, for programs that are told apart by identity. */
export function admissionOf(simulator: Simulator): Admission {
  const hook = createAdmissionHook(simulator.clientFor({ name: 'admission' }))
  return {
    handles: (review) => hook.handles(review),
    admit: (review) => hook.admit({ ...review, actor: { ...review.actor, name: managerOf(review.actor.name) } }),
  }
}

function managerOf(actor: string): string {
  if (actor.startsWith('controller')) return fieldManagers.controller
  return actor.startsWith('executor') ? fieldManagers.executor : actor
}

const policyIds: Readonly<Record<string, (typeof resources)[keyof typeof resources]>> = {
  MutatingAdmissionPolicy: resources.mutatingAdmissionPolicies,
  MutatingAdmissionPolicyBinding: resources.mutatingAdmissionPolicyBindings,
  ValidatingAdmissionPolicy: resources.validatingAdmissionPolicies,
  ValidatingAdmissionPolicyBinding: resources.validatingAdmissionPolicyBindings,
}

/** Admission as the chart installs it with `admission: policy`. */
export async function enforcePolicies(simulator: Simulator): Promise<void> {
  const client = simulator.clientFor({ name: 'helm' })
  for (const policy of admissionPolicies) await client.create(policyIds[policy.kind]!, policy)
}

/** Takes the policies away again. */
export async function liftPolicies(simulator: Simulator): Promise<void> {
  const client = simulator.clientFor({ name: 'helm' })
  for (const policy of admissionPolicies) await client.delete(policyIds[policy.kind]!, policy.metadata.name, undefined)
}
