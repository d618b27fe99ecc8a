import type { BatchRelease, ReleasePolicySpec, Rollout, RolloutStep } from '@tranche/api-schema'
import {
  checkBatchRelease,
  checkDocuments,
  checkPolicy,
  checkRollout,
  MOST_FINDINGS,
  type Problem,
  problemBody,
  problemsText,
  problemText,
  shownValue,
  validateBatchRelease,
  validateRollout,
  validateSpec,
  validateStatusChange,
} from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { batchReleaseWith } from './batch-releases.ts'
import { policyWith } from './policies.ts'
import { rolloutInSteps, rolloutWith } from './rollouts.ts'

const unknown = { desired: null, workloadExists: null }
const more = { rule: 'MoreProblems', value: 'more than 20 problems' }
const asking = { name: 'a', http: { url: 'https://app.example.com', method: 'POST' as const }, successCondition: 'true' }

/** One that selects nodes by `count` values that no label can have, in `expressions` requirements. */
function invalidValues(count: number, expressions = 1): RolloutStep {
  const values = Array.from({ length: count }, () => '_')
  return { nodes: { matchExpressions: Array.from({ length: expressions }, () => ({ key: 'a', operator: 'In' as const, values })) } }
}

function repeated<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value)
}

describe('a check lists twenty problems, and one that says that there are more', () => {
  it.each<[of: string, problems: () => readonly Problem[]]>([
    ['50 steps of no size', () => validateRollout(rolloutInSteps(...repeated(50, { replicas: 0 })))],
    ['5,000 invalid values of one step', () => validateSpec(rolloutInSteps(invalidValues(1_000, 5)))],
    ['100 invalid values of each of 50 steps', () => validateSpec(rolloutInSteps(...repeated(50, invalidValues(100))))],
    ['50 invalid labels', () => validateSpec(rolloutInSteps({ nodes: { matchLabels: labels(50) } }))],
    ['5,000 invalid values in a policy', () => inPolicy({ nodes: { exclude: [invalidValues(1_000, 5).nodes!] } })],
    ['40 events that no receiver knows', () => inPolicy({ notify: repeated(10, { name: 'a', events: repeated(4, 'Nothing') }) } as never)],
    [
      '7,000 unknown arguments of one body',
      () =>
        inPolicy({
          analysis: [{ ...asking, http: { ...asking.http, body: Array.from({ length: 7_000 }, (_, n) => `{{a${n}}}`).join('') } }],
        }),
    ],
    [
      '5,000 invalid values in a hand-written BatchRelease',
      () => validateBatchRelease(batchReleaseWith({}, { tranche: { nodes: { steps: [invalidValues(1_000, 5).nodes!] } } })),
    ],
    ['50 batches of no size', () => validateBatchRelease(batchReleaseWith({ batches: repeated(50, { canaryReplicas: 0 }) }))],
    ['10,000 fields of a wrong type', () => inRollout({ trafficRoutings: repeated(10_000, 5) })],
    ['10,000 unknown fields', () => inRollout({ steps: [{ replicas: '100%' }], ...labels(10_000) })],
    ['10,000 unknown fields outside of the spec', () => checkRollout({ ...rolloutWith(), ...labels(10_000) }, unknown).problems],
    [
      '100 changed fields of a status',
      () => {
        const before = rolloutWith({ status: { currentStepIndex: 1, currentStepState: 'StepPaused', stableRevision: 'a' } })
        return validateStatusChange(before, { ...before, status: { ...before.status!, ...labels(100) } as Rollout['status'] })
      },
    ],
  ])('of %s', (_of, problemsOf) => {
    const problems = problemsOf()
    expect(problems).toHaveLength(MOST_FINDINGS + 1)
    expect(problems.at(-1)).toMatchObject(more)
    expect(problems.filter(({ rule }) => rule === 'MoreProblems')).toHaveLength(1)
    expect(problemsText(problems)).toMatch(/ \(and at least \d+ more\)$/)
  })

  it('and lists exactly twenty without it', () => {
    const problems = validateRollout(rolloutInSteps(...repeated(20, { replicas: 0 })))
    expect(problems.map(({ rule }) => rule)).toEqual(repeated(20, 'StepSize'))
    expect(problemsText(problems)).toMatch(/ \(and \d+ more\)$/)
  })

  it('with the reason of the others, so that a stop has one reason', () => {
    expect(new Set(inPolicy({ nodes: { exclude: [invalidValues(1_000).nodes!] } }).map(({ reason }) => reason))).toEqual(
      new Set(['PolicyInvalid']),
    )
  })
})

it('documents get twenty pieces of advice, and one that says that there is more', () => {
  const analysis = [{ ...asking, steps: Array.from({ length: 45 }, (_, n) => n + 2) }]
  const policy = { ...policyWith({ analysis }), apiVersion: 'tranche.dev/v1alpha1', kind: 'ReleasePolicy' }
  const { name } = policy.metadata
  const rollout = rolloutWith({ metadata: { ...rolloutWith().metadata, annotations: { 'tranche.dev/release-policy': name } } })
  const { advice } = checkDocuments([policy, { ...rollout, apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout' }])[0]!
  expect(advice).toHaveLength(MOST_FINDINGS + 1)
  expect(advice.at(-1)).toMatchObject({ rule: 'MoreAdvice' })
})

describe('what is too large is reported alone, with field, value and fix', () => {
  it.each<[what: string, problems: () => readonly Problem[], text: string]>([
    [
      'selectors of a Rollout with 300,000 values',
      () => inRollout({ steps: repeated(50, invalidValues(1_000, 6)) }),
      'spec.strategy.canary.steps[0].nodes is "6000 values": all selectors up to here have 6000 values; the maximum is 5000; keep 5000 or fewer, or select the nodes by a common label',
    ],
    [
      'selectors of a Rollout with 2,500 requirements',
      () => validateSpec(rolloutInSteps(...repeated(50, { nodes: { matchLabels: labels(50) } }))),
      'spec.strategy.canary.steps[10].nodes is "550 requirements": all selectors up to here have 550 requirements; the maximum is 500; keep 500 or fewer, or select the nodes by a common label',
    ],
    [
      '56,000 selectors of steps in a hand-written BatchRelease',
      () => validateBatchRelease(batchReleaseWith({}, { tranche: { nodes: { steps: repeated(56_000, {}) } } })),
      'spec.tranche.nodes.steps is "56000 entries": the list has 56000 entries; the maximum is 50; keep 50 entries or fewer',
    ],
    [
      '21 analyses in a hand-written BatchRelease',
      () => checkBatchRelease(batchReleaseWith({}, { tranche: { analysis: repeated(21, asking) } })).problems,
      'spec.tranche.analysis is "21 entries": the list has 21 entries; the maximum is 20; keep 20 entries or fewer',
    ],
    [
      'a million unknown fields',
      () => inRollout(labels(30_000)),
      'spec.strategy.canary is "30006 entries": all lists and objects up to here have 30006 entries; the maximum is 25000; keep 25000 or fewer in the whole spec',
    ],
    [
      '51 steps',
      () => inRollout({ steps: repeated(51, { replicas: 0 }) }),
      'spec.strategy.canary.steps is "51 steps": a release has at most 50 steps; merge steps',
    ],
  ])('%s', (_what, problems, text) => expect(problems().map(problemText)).toEqual([text]))

  it('and as an object of unknown content', () => {
    const value = {
      ...rolloutWith(),
      spec: { ...rolloutWith().spec, strategy: { canary: { steps: repeated(50, invalidValues(1_000, 6)) } } },
    }
    expect(checkRollout(value, unknown)).toMatchObject({ object: null, isOversized: true })
    expect(checkRollout(rolloutWith(), unknown).isOversized).toBeUndefined()
  })
})

it.each<[field: string, tranche: NonNullable<BatchRelease['spec']['tranche']>]>([
  ['hold.message', { hold: { reason: 'a', id: 'b', message: 'x'.repeat(4_097) } }],
  ['hold.id', { hold: { reason: 'a', id: 'x'.repeat(257), message: '' } }],
  ['hold.reason', { hold: { reason: 'x'.repeat(101), id: 'b', message: '' } }],
  ['retry', { retry: 'x'.repeat(257) }],
  ['release', { release: 'x'.repeat(257) }],
])('a text of %s that status and record would repeat has a maximum', (field, tranche) => {
  const [problem, ...others] = validateBatchRelease(batchReleaseWith({}, { tranche }))
  expect(problem).toMatchObject({ rule: 'BatchReleaseSize', path: `spec.tranche.${field}` })
  expect(others).toEqual([])
})

it('a text that a rule reports is not reported twice', () => {
  const drain = { consumers: [{ csiDriver: 'x'.repeat(64) }] }
  expect(inPolicy({ drain }).map(({ rule }) => rule)).toEqual(['DrainDriver'])
})

describe('a finding is short, whatever a user wrote', () => {
  const long = 'x'.repeat(1_000_000)
  it.each<[what: string, problems: () => readonly Problem[]]>([
    ['a label key', () => validateSpec(rolloutInSteps({ nodes: { matchLabels: { [`${long} `]: '_' } } }))],
    ['a label value', () => validateSpec(rolloutInSteps({ nodes: { matchLabels: { a: `${long} ` } } }))],
    ['the name of an unknown field', () => inRollout({ steps: [{ replicas: '100%' }], [long]: 1 })],
    ['the value of an unknown field', () => inRollout({ steps: [{ replicas: '100%' }], a: repeated(100_000, { [long]: long }) })],
    ['the name of an argument', () => inPolicy({ analysis: [{ ...asking, args: repeated(50, { name: long, value: '{{a}}' }) }] })],
    [
      'names of arguments, in the fix of another field',
      () => inPolicy({ analysis: [{ ...asking, args: [{ name: long, value: '' }], http: { ...asking.http, body: '{{b}}' } }] }),
    ],
    [
      'the name of a workload',
      () => validateSpec(rolloutWith({ spec: { ...rolloutWith().spec, workloadRef: { ...daemonSet, name: long } } })),
    ],
    [
      'an action',
      () => validateRollout(rolloutWith({ metadata: annotated('tranche.dev/action', JSON.stringify({ id: long, [long]: 1 })) })),
    ],
    ['the name of a policy', () => validateRollout(rolloutWith({ metadata: annotated('tranche.dev/release-policy', long) }))],
  ])('%s', (_what, problemsOf) => {
    const problems = problemsOf()
    expect(problems.length).toBeGreaterThan(0)
    for (const problem of problems) {
      expect(problemText(problem).length).toBeLessThan(2_000)
      expect(problemBody(problem).length).toBeLessThan(1_600)
      expect(problem.path.length + problem.message.length + problem.fix.length).toBeLessThan(1_700)
      if (typeof problem.value === 'string') expect(problem.value.length).toBeLessThanOrEqual(1_000)
    }
    expect(problemsText(problems).length).toBeLessThan(3_000)
  })
})

describe('a shown value', () => {
  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    [{ a: [1, 'b', null, undefined], c: undefined, d: {} }, '{"a":[1,"b",null,null],"d":{}}'],
    ['"quoted"', '"\\"quoted\\""'],
    ['x'.repeat(118), `"${'x'.repeat(118)}"`],
    ['x'.repeat(119), `"${'x'.repeat(119)}…`],
    [repeated(200, 1), `[${'1,'.repeat(59)}1…`],
    [{ ['k'.repeat(200)]: 1 }, `{"${'k'.repeat(118)}…`],
  ])('%j is its JSON, up to 120 characters', (value, text) => expect(shownValue(value)).toBe(text))

  it.each(['[', '{"a":'])('of any nesting is read only at its beginning: %s', (open) => {
    const close = open === '[' ? ']' : '}'
    const text = `${open.repeat(9_000)}1${close.repeat(9_000)}`
    expect(shownValue(JSON.parse(text))).toBe(`${text.slice(0, 120)}…`)
  })

  it('of any size is read only at its beginning', () => {
    let read = 0
    const item = Object.defineProperty({}, 'a', { enumerable: true, get: () => (read++, 1) })
    expect(shownValue(repeated(100_000, { b: item }))).toHaveLength(121)
    expect(read).toBeLessThan(30)
  })
})

it('an unchanged spec is checked once for each number of nodes', () => {
  const { spec } = rolloutInSteps({ replicas: 0 })
  const at = (desired: number) => validateSpec({ ...rolloutWith(), spec }, { desired })
  expect(at(3)).toBe(at(3))
  expect(at(4)).not.toBe(at(3))
  const release = batchReleaseWith({ batches: [{ canaryReplicas: 0 }] })
  expect(validateBatchRelease({ ...release })).toBe(validateBatchRelease(release))
  const shrinking = rolloutInSteps({ replicas: 50 }, { replicas: '10%' })
  expect([100, 1_000, 100].map((desired) => validateSpec(shrinking, { desired }).length)).toEqual([1, 0, 1])
})

const daemonSet = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' }

function annotated(key: string, value: string): Rollout['metadata'] {
  return { ...rolloutWith().metadata, annotations: { [key]: value } }
}

function labels(count: number): Readonly<Record<string, string>> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, '_']))
}

function inRollout(canary: object): readonly Problem[] {
  return checkRollout(rolloutWith({ spec: { ...rolloutWith().spec, strategy: { canary } } }), unknown).problems
}

function inPolicy(spec: ReleasePolicySpec): readonly Problem[] {
  return checkPolicy(policyWith(spec)).problems
}
