import { customResourceDefinitions } from '@tranche/api-schema'
import { type KubeClient, resourcePaths } from '@tranche/kube-client'
import { drive, type Stage } from './stage.ts'

/** Fields of spec and status in OpenKruise's definitions. */
const theirs: Readonly<Record<string, Readonly<Record<'spec' | 'status', readonly string[]>>>> = {
  Rollout: {
    spec: ['workloadRef', 'strategy', 'disabled'],
    status: [
      'observedGeneration',
      'canaryStatus',
      'blueGreenStatus',
      'conditions',
      'phase',
      'message',
      'currentStepIndex',
      'currentStepState',
    ],
  },
  BatchRelease: {
    spec: ['workloadRef', 'releasePlan'],
    status: [
      'conditions',
      'canaryStatus',
      'stableRevision',
      'updateRevision',
      'observedGeneration',
      'observedRolloutID',
      'observedWorkloadReplicas',
      'collisionCount',
      'observedReleasePlanHash',
      'phase',
      'message',
    ],
  },
}

/** Serves the definitions of this version, or OpenKruise's, which lack Tranche's fields. */
export async function define(stage: Stage, source: 'ours' | 'theirs'): Promise<void> {
  await drive(stage.clock, defineBy(stage.client, source))
}

/** Like `define`, if another part of the test advances the clock. */
export async function defineBy(client: KubeClient, source: 'ours' | 'theirs'): Promise<void> {
  for (const definition of customResourceDefinitions.filter(({ spec: { names } }) => names.kind in theirs)) {
    const spec = source === 'ours' ? definition.spec : reduced(definition)
    const { name } = definition.metadata
    const body = [{ op: 'replace', path: '/spec', value: spec }] as const
    await client.patch(resourcePaths.customResourceDefinitions, { namespace: '', name }, { type: 'json', body })
  }
}

function reduced({ spec }: (typeof customResourceDefinitions)[number]): unknown {
  const kept = theirs[spec.names.kind]!
  const copy = structuredClone(spec) as unknown as {
    versions: { schema: { openAPIV3Schema: { properties: Record<string, { properties: Record<string, unknown> }> } } }[]
  }
  const { properties } = copy.versions[0]!.schema.openAPIV3Schema
  for (const part of ['spec', 'status'] as const) {
    const schema = properties[part]!
    schema.properties = Object.fromEntries(Object.entries(schema.properties).filter(([name]) => kept[part].includes(name)))
  }
  return copy
}
