import { POD_POLICY_NAME, podPolicyFault } from '@tranche/admission'
import { isNotFound, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { type GuardedReads, isDenied, type Denied } from './guarded-reads.ts'
import type { InstalledPod } from './installed-signs.ts'

/** The policy with which the API server names copies of config in pods. */
export interface PodPolicySign {
  /** Name of the policy and of its binding. */
  readonly name: string
  /** Why it names no copies; null where it does. */
  readonly fault: string | null
}

/** Maximum number of policies that are read: an installation has one, but any user may create pods that name others. */
const MOST_POLICIES = 3
/** Maximum length of the name of an object. */
const MOST_NAME = 253
const OPTION = '--pod-policy='

/**
 * Reads the policy for pods of each controller that pins config. A binding that leaves out some namespaces counts as good: releases there say so.
 *
 * @returns none where no controller pins config
 * @throws {ReadDenied} if the user may not read them
 */
export async function readPodPolicies(reads: GuardedReads, installed: readonly InstalledPod[] | Denied): Promise<readonly PodPolicySign[]> {
  if (isDenied(installed)) return []
  const names = new Set(installed.flatMap(({ args }) => (args.includes('--pin-config') ? [nameIn(args)] : [])))
  return Promise.all([...names].slice(0, MOST_POLICIES).map((name) => readPodPolicy(reads, name)))
}

function nameIn(args: readonly string[]): string {
  const name = args.find((arg) => arg.startsWith(OPTION))?.slice(OPTION.length)
  return name === undefined || name === '' || name.length > MOST_NAME ? POD_POLICY_NAME : name
}

async function readPodPolicy(reads: GuardedReads, name: string): Promise<PodPolicySign> {
  const { mutatingAdmissionPolicies, mutatingAdmissionPolicyBindings } = resourcePaths
  const [policy, binding] = await Promise.all(
    [mutatingAdmissionPolicies, mutatingAdmissionPolicyBindings].map((resource) => readNamed(reads, resource, name)),
  )
  return { name, fault: podPolicyFault({ name, policy, binding }, null) }
}

/** Only newer API servers serve these policies. */
async function readNamed(reads: GuardedReads, resource: ResourcePath, name: string): Promise<PolicyObjectOnWire | undefined> {
  try {
    const { items } = await reads.list<PolicyObjectOnWire>(resource, { fieldSelector: `metadata.name=${name}` })
    return items[0]
  } catch (error) {
    if (!isNotFound(error)) throw error
    return undefined
  }
}

interface PolicyObjectOnWire extends KubeObject {
  readonly spec?: unknown
}
