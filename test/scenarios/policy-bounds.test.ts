import { customResourceDefinitions, policyDurations, policyNumbers, policySizes, type StructuralSchema } from '@tranche/api-schema'
import { KubeStatusError, resourcePaths } from '@tranche/kube-client'
import { checkPolicy } from '@tranche/validation'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { policyKey, policyManifest } from './stage-objects.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
beforeAll(async () => {
  stage = await setStage({ nodes: 1, steps: [{ replicas: '100%' }] })
})
afterAll(() => stage.end())

const measured = { successCondition: 'true', initialDelay: '1s', interval: '30s', timeout: '10s', count: 5 }
const limits = { failureLimit: 1, inconclusiveLimit: 1, consecutiveErrorLimit: 1 }
const selector = { matchExpressions: [{ key: 'kind', operator: 'In', values: ['gpu'] }] }

/** A valid policy with each field that has a closed set of values, or a range. */
const complete = {
  nodes: {
    order: [{ selector, by: 'Name' }],
    exclude: [selector],
    spread: [{ topologyKey: 'zone', maxUnavailable: 1 }],
    notReady: { action: 'Skip', exempt: '10%', after: '5m' },
    room: 'Check',
  },
  maxUnavailable: 1,
  failure: {
    ...{ action: 'Pause', maxFailedNodes: 1, maxFailedNodesPerBatch: '5%', progressDeadlineSeconds: 600, schedulingDeadlineSeconds: 60 },
    ...{ maxRestarts: 2, onReapply: 'Hold', autoResume: '1m' },
  },
  drain: { consumers: [{ selector }], timeout: '10m', onTimeout: 'Hold' },
  soak: { step: '1m', final: '10s' },
  prePull: { parallel: 1, timeout: '1m', onFailure: 'Hold' },
  downtime: { nodeLock: 'Take', perDay: '1h' },
  config: 'Pin',
  analysis: [
    { name: 'errors', prometheus: { address: 'http://metrics', query: 'up', range: '1h', step: '1m' }, steps: [1], ...measured, ...limits },
    { name: 'probe', http: { url: 'http://probe', method: 'GET' }, ...measured, ...limits },
  ],
  notify: [{ name: 'team', webhook: { url: 'http://hook' }, events: ['Reminder'], remindAfter: '1h' }],
}

const definition = customResourceDefinitions.find(({ spec }) => spec.names.kind === 'ReleasePolicy')!
const schema = definition.spec.versions[0]!.schema.openAPIV3Schema.properties!['spec']!

interface Field {
  /** As in the table of ranges: `spec.analysis[].interval`. */
  readonly path: string
  readonly schema: StructuralSchema
}

/** Every field whose values are knowable. */
const fields = fieldsOf({ path: 'spec', schema })

describe('the API server and the validation of policies agree', () => {
  it('on a policy with each field that has a range or a closed set of values', async () => {
    expect(fields.filter(({ path }) => valueAt(complete, placeOf(path)) === undefined).map(({ path }) => path)).toEqual([])
    expect(await refusalOf(complete)).toBeNull()
    expect(problemsOf(complete)).toEqual([])
  })

  it.each(fields)('on the smallest and the largest value of $path', async (field) => {
    for (const value of allowedFor(field)) {
      const spec = changed(complete, placeOf(field.path), value)
      expect([value, await refusalOf(spec)]).toEqual([value, null])
      expect([value, problemsOf(spec).filter((path) => path === placeOf(field.path))]).toEqual([value, []])
    }
  })

  it.each(fields)('on what is no value of $path, which both name', async (field) => {
    const place = placeOf(field.path)
    for (const value of refusedFor(field)) {
      const spec = changed(complete, place, value)
      expect([value, await refusalOf(spec)]).toEqual([value, expect.stringContaining(`${place}: `)])
      expect([value, problemsOf(spec)]).toEqual([value, expect.arrayContaining([place])])
    }
  })
})

it.each<[string, object, string]>([
  ['nodes.room: check', { nodes: { room: 'check' } }, 'spec.nodes.room: Unsupported value: "check": supported values: "Ignore", "Check"'],
  [
    'downtime.perDay: 13h',
    { downtime: { perDay: '13h' } },
    'spec.downtime.perDay: Invalid value: "13h": must be a duration from 1s to 12h, such as 30s or 1h30m',
  ],
  [
    'prePull.parallel: 0',
    { prePull: { parallel: 0 } },
    'spec.prePull.parallel: Invalid value: 0: spec.prePull.parallel in body should be greater than or equal to 1',
  ],
])('the API server refuses %s with the field, the value and what is allowed', async (_name, spec, text) => {
  expect(await refusalOf(spec)).toContain(text)
})

/** Refusal of the API server; null without one. */
async function refusalOf(spec: object): Promise<string | null> {
  const key = { ...policyKey, name: 'tried' }
  try {
    await stage.client.create(resourcePaths.releasePolicies, { ...policyManifest({}), metadata: key, spec } as never)
    await stage.client.delete(resourcePaths.releasePolicies, key)
    return null
  } catch (error) {
    if (error instanceof KubeStatusError && error.status === 422) return error.message
    throw error
  }
}

/** Rules about single values. The others compare fields, which only validation does. */
const valueRules: readonly string[] = [
  'PolicyField',
  'PolicyDuration',
  'PolicyNumber',
  'PolicyThreshold',
  'PolicyMaxUnavailable',
  'AnalysisSteps',
]

/** Paths of the values that validation rejects. */
function problemsOf(spec: object): readonly string[] {
  const { problems } = checkPolicy({ ...policyManifest({}), spec })
  return problems.filter(({ rule }) => valueRules.includes(rule)).map(({ path }) => path)
}

function fieldsOf({ path, schema: node }: Field): readonly Field[] {
  const isKnowable = node.enum !== undefined || path in { ...policyDurations, ...policyNumbers, ...policySizes }
  return [
    ...(isKnowable ? [{ path, schema: node }] : []),
    ...Object.entries(node.properties ?? {}).flatMap(([name, child]) => fieldsOf({ path: `${path}.${name}`, schema: child })),
    ...(node.items === undefined ? [] : fieldsOf({ path: `${path}[]`, schema: node.items })),
  ]
}

/** The second analysis has the fields of HTTP. */
function placeOf(path: string): string {
  return path.replace('analysis[].http', 'analysis[1].http').replaceAll('[]', '[0]')
}

function allowedFor({ path, schema: node }: Field): readonly unknown[] {
  const [duration, number, size] = [policyDurations[path], policyNumbers[path], policySizes[path]]
  if (duration !== undefined) return [duration.from, duration.to]
  if (number !== undefined) return [number.from, number.to]
  if (size !== undefined) return [size.from, `${size.from}%`, '100%', '007%']
  return node.enum ?? []
}

function refusedFor({ path, schema: node }: Field): readonly unknown[] {
  const [duration, number, size] = [policyDurations[path], policyNumbers[path], policySizes[path]]
  if (duration !== undefined) return ['soon', '', '13', '-1s', '169h', '1h 30m', ...(duration.from === '0s' ? [] : ['0s'])]
  if (number !== undefined) return [number.from - 1, number.to + 1]
  if (size !== undefined) return [-1, '101%', 'half', '10', '-1%', ...(size.from === 0 ? [] : [0, '0%'])]
  return ['', 'Other', (node.enum ?? []).map((value) => (value === value.toLowerCase() ? value.toUpperCase() : value.toLowerCase()))[0]]
}

function valueAt(value: unknown, place: string): unknown {
  return stepsOf(place).reduce<unknown>((inner, step) => (inner as Record<string, unknown> | undefined)?.[step], value)
}

function changed(spec: object, place: string, value: unknown): object {
  const copy = structuredClone(spec)
  const steps = stepsOf(place)
  const parent = steps.slice(0, -1).reduce<Record<string, unknown>>((inner, step) => inner[step] as Record<string, unknown>, copy as never)
  parent[steps.at(-1)!] = value
  return copy
}

function stepsOf(place: string): readonly string[] {
  return place
    .replace(/^spec\./, '')
    .replaceAll('[', '.')
    .replaceAll(']', '')
    .split('.')
}
