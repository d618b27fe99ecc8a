import type { ReleasePolicy } from '@tranche/api-schema'
import { isNotFound, resourcePaths } from '@tranche/kube-client'
import { policyKey as key, policyManifest } from './stage-objects.ts'
import type { Stage } from './stage.ts'

/** Applies the ReleasePolicy of the stage: creates it, or replaces its spec. */
export async function applyPolicy(stage: Stage, spec: ReleasePolicy['spec']): Promise<void> {
  const { client } = stage
  const body = [{ op: 'replace', path: '/spec', value: spec }] as const
  try {
    await client.patch(resourcePaths.releasePolicies, key, { type: 'json', body })
  } catch (error) {
    if (!isNotFound(error)) throw error
    await client.create(resourcePaths.releasePolicies, policyManifest(spec) as never)
  }
}

/** Deletes the ReleasePolicy of the stage. */
export async function deletePolicy({ client }: Stage): Promise<void> {
  await client.delete(resourcePaths.releasePolicies, key)
}

/** @returns the ReleasePolicy of the stage */
export function policyOf({ client }: Stage): Promise<ReleasePolicy> {
  return client.get<ReleasePolicy>(resourcePaths.releasePolicies, key)
}
