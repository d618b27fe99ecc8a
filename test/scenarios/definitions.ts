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

/** Definitions: of this version; of OpenKruise, which lack Tranche's fields; or of a version that had no limits of sizes. */
type Source = 'ours' | 'theirs' | 'unlimited'

/** Serves the definitions of a source. */
export async function define(stage: Stage, source: Source): Promise<void> {
  await drive(stage.clock, defineBy(stage.client, source))
}

/** Like `define`, if another part of the test advances the clock. */
export async function defineBy(client: KubeClient, source: Source): Promise<void> {
  for (const definition of customResourceDefinitions.filter(({ spec: { names } }) => names.kind in theirs)) {
    const spec = { ours: () => definition.spec, theirs: () => reduced(definition), unlimited: () => unlimited(definition) }[source]()
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
  return spec.names.kind === 'Rollout' ? withoutStepNodes(copy) : copy
}

/** Steps of OpenKruise name no nodes. */
function withoutStepNodes(spec: object): unknown {
  return JSON.parse(JSON.stringify(spec), (name, value: unknown) => {
    if (name !== 'steps') return value
    const { items, ...list } = value as { readonly items: { readonly properties: Readonly<Record<string, unknown>> } }
    const { nodes: _ours, ...properties } = items.properties
    return { ...list, items: { ...items, properties } }
  })
}

function unlimited({ spec }: (typeof customResourceDefinitions)[number]): unknown {
  const limits = ['maxItems', 'maxProperties', 'maxLength']
  return JSON.parse(JSON.stringify(spec), (name, value: unknown) => (limits.includes(name) ? undefined : value))
}
