import { customResourceDefinitions, oversizes, sizeLimits, specLimits, type StructuralSchema } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'

const notOurs = 'belongs to releases of other workload kinds; Tranche rejects it for DaemonSets, or reads only whether it is there'
const ofKruise = 'is a field of OpenKruise, whose objects no definition may reject; validation reports a value that is too long'

/** Lists, maps and texts without a limit, by the beginning of their path, each with the reason. */
const unlimited: Readonly<Record<string, string>> = {
  'Rollout.spec.workloadRef.': ofKruise,
  'Rollout.spec.strategy.canary.steps[].traffic': notOurs,
  'Rollout.spec.strategy.canary.steps[].requestHeaderModifier.': notOurs,
  'Rollout.spec.strategy.canary.steps[].matches[].': notOurs,
  'Rollout.spec.strategy.canary.trafficRoutingRef': notOurs,
  'Rollout.spec.strategy.canary.trafficRoutings': notOurs,
  'Rollout.spec.strategy.canary.patchPodTemplateMetadata.': notOurs,
  'Rollout.spec.strategy.blueGreen.': notOurs,
  'BatchRelease.spec.workloadRef.': ofKruise,
  'BatchRelease.spec.releasePlan.batches': ofKruise,
  'BatchRelease.spec.releasePlan.rolloutID': ofKruise,
  'BatchRelease.spec.releasePlan.finalizingPolicy': ofKruise,
  'BatchRelease.spec.releasePlan.rollingStyle': ofKruise,
  'BatchRelease.spec.releasePlan.patchPodTemplateMetadata.': notOurs,
}

// Of specs only: controllers write the status within maxima of their own, and a rejected write would stop a release.
describe('every list, map and text of a spec that Tranche reads has a maximum in its definition', () => {
  const found = customResourceDefinitions.flatMap(({ spec }) => {
    const schema = spec.versions[0]!.schema.openAPIV3Schema.properties!['spec']!
    return nodesOf(schema, `${spec.names.kind}.spec`).filter(({ schema: node }) => !hasLimit(node))
  })

  it('or a reason to have none', () => {
    const paths = found.map(({ path }) => path)
    expect(paths.filter((path) => !Object.keys(unlimited).some((prefix) => path.startsWith(prefix)))).toEqual([])
  })

  it.each(Object.keys(unlimited))('and %s, which has such a reason, exists', (prefix) => {
    expect(found.some(({ path }) => path.startsWith(prefix))).toBe(true)
  })
})

describe('a spec of the largest size', () => {
  const values = Array.from({ length: sizeLimits.values }, (_, n) => `node-${n}`)
  const listing = (count: number) => ({ matchExpressions: Array.from({ length: count }, () => ({ key: 'name', operator: 'In', values })) })
  const few = { matchLabels: Object.fromEntries(Array.from({ length: sizeLimits.requirements }, (_, n) => [`label-${n}`, 'a'])) }
  const rollout = (...selectors: readonly object[]) => ({ strategy: { canary: { steps: selectors.map((nodes) => ({ nodes })) } } })

  it('has five thousand values or five hundred requirements in all selectors together, and no more', () => {
    expect(oversizes('Rollout', rollout(listing(5))).lists).toEqual([])
    expect(oversizes('Rollout', rollout(listing(3), listing(2), listing(1))).lists).toEqual([
      { path: ['spec', 'strategy', 'canary', 'steps', 2, 'nodes'], of: 'allValues', count: 6_000, most: specLimits.Rollout.values },
    ])
    expect(oversizes('Rollout', rollout(...Array.from({ length: 10 }, () => few))).lists).toEqual([])
    expect(oversizes('Rollout', rollout(...Array.from({ length: 11 }, () => few))).lists).toEqual([
      {
        path: ['spec', 'strategy', 'canary', 'steps', 10, 'nodes'],
        of: 'allRequirements',
        count: 550,
        most: specLimits.Rollout.requirements,
      },
    ])
  })

  it('of a Rollout and of a policy fit into one BatchRelease together', () => {
    const nodes = { exclude: [listing(5)], steps: [listing(5)] }
    expect(oversizes('BatchRelease', { tranche: { nodes } }).lists).toEqual([])
    for (const total of ['requirements', 'values', 'entries'] as const) {
      expect(specLimits.BatchRelease[total]).toBe(specLimits.Rollout[total] + specLimits.ReleasePolicy[total])
    }
  })

  it('ends the search where its lists and objects have too many entries together, whatever these are', () => {
    const names = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`x${n}`, 1]))
    expect(oversizes('Rollout', { strategy: { canary: names } }).lists).toMatchObject([{ of: 'entries', most: specLimits.Rollout.entries }])
    const routings = Array.from({ length: 30_000 }, () => 3)
    expect(oversizes('Rollout', { strategy: { canary: { trafficRoutings: routings } } }).lists).toMatchObject([{ of: 'entries' }])
  })
})

it('a search finds at most twenty lists and twenty texts, and passes over values of a wrong type', () => {
  const analysis = Array.from({ length: 20 }, () => ({
    args: Array.from({ length: 51 }, () => ({})),
    steps: Array.from({ length: 51 }, () => 1),
    interval: 'x'.repeat(65),
    timeout: 'x'.repeat(65),
  }))
  expect(oversizes('ReleasePolicy', { analysis }).lists).toHaveLength(20)
  expect(oversizes('ReleasePolicy', { analysis: analysis.map(({ interval, timeout }) => ({ interval, timeout })) }).texts).toHaveLength(20)
  expect(oversizes('ReleasePolicy', { nodes: { order: 'x'.repeat(100), exclude: { a: 1 }, spread: null } })).toMatchObject({ lists: [] })
  expect(oversizes('ReleasePolicy', 3)).toMatchObject({ lists: [], texts: [] })
})

interface Located {
  readonly path: string
  readonly schema: StructuralSchema
}

function nodesOf(schema: StructuralSchema, path: string): readonly Located[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => nodesOf(child, `${path}.${name}`))
  const items = schema.items === undefined ? [] : nodesOf(schema.items, `${path}[]`)
  const values = schema.additionalProperties === undefined ? [] : nodesOf(schema.additionalProperties, `${path}.*`)
  return [{ path, schema }, ...members, ...items, ...values]
}

/** The search limits whole numbers and percentages itself: a structural schema states no length for them. */
function hasLimit({ type, maxItems, maxProperties, maxLength, additionalProperties }: StructuralSchema): boolean {
  if (type === 'array') return maxItems !== undefined
  if (type === 'string') return maxLength !== undefined
  return additionalProperties === undefined || maxProperties !== undefined
}
