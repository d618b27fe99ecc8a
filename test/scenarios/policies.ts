import { customResourceDefinitions, type ReleasePolicy } from '@tranche/api-schema'
import { isNotFound, resourcePaths } from '@tranche/kube-client'
import { expect } from 'vitest'
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

/**
 * Applies a ReleasePolicy that the API server refuses, while it has a definition without bounds, such as one of an older version. The policy stays
 * when the definition of this version is back.
 */
export async function applyRefusedPolicy(stage: Stage, spec: ReleasePolicy['spec']): Promise<void> {
  await expect(applyPolicy(stage, spec)).rejects.toThrow('is invalid: ')
  await definePolicies(stage, withoutBounds(definition.spec))
  await applyPolicy(stage, spec)
  await definePolicies(stage, definition.spec)
}

const definition = customResourceDefinitions.find(({ spec }) => spec.names.kind === 'ReleasePolicy')!

async function definePolicies({ client }: Stage, spec: unknown): Promise<void> {
  const { name } = definition.metadata
  const body = [{ op: 'replace', path: '/spec', value: spec }] as const
  await client.patch(resourcePaths.customResourceDefinitions, { namespace: '', name }, { type: 'json', body })
}

const bounds: readonly string[] = ['enum', 'minimum', 'maximum', 'maxLength', 'x-kubernetes-validations']

function withoutBounds(spec: unknown): unknown {
  return JSON.parse(JSON.stringify(spec, (key, value: unknown) => (bounds.includes(key) ? undefined : value)))
}

/** Deletes the ReleasePolicy of the stage. */
export async function deletePolicy({ client }: Stage): Promise<void> {
  await client.delete(resourcePaths.releasePolicies, key)
}

/** @returns the ReleasePolicy of the stage */
export function policyOf({ client }: Stage): Promise<ReleasePolicy> {
  return client.get<ReleasePolicy>(resourcePaths.releasePolicies, key)
}
