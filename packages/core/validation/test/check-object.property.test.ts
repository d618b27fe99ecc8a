import { type BatchRelease, customResourceDefinitions, type Rollout, type StructuralSchema } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import {
  type Advice,
  checkBatchRelease,
  checkDocuments,
  checkRollout,
  parseAction,
  type Problem,
  problemsText,
  problemText,
  resolveSteps,
  validateBatchRelease,
  validateKeys,
  validateSpec,
} from '@tranche/validation'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchReleaseWith } from './batch-releases.ts'
import { rolloutAnnotated, rolloutWith } from './rollouts.ts'

type Path = readonly (string | number)[]

const tricky = fc.constantFrom<unknown>(
  '',
  ' ',
  '0%',
  '100%',
  '1e3',
  '-1',
  '٣%',
  '💥\u202e\u0000',
  '\ud800',
  -1,
  0,
  1.5,
  2 ** 31,
  1e308,
  null,
  true,
  [],
  {},
  [[[[]]]],
  'x'.repeat(100_000),
  Array.from({ length: 2_000 }, () => ({ replicas: 1, canaryReplicas: 1 })),
  JSON.parse('{"__proto__":{"replicas":1},"constructor":3}'),
)
const anything = fc.oneof(tricky, fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' }), fc.integer(), fc.double())
const unknown = { desired: null, workloadExists: null }

/** The kind's object with anything at any field that its definition has, one to three times. */
function spoilt<T>(kind: 'Rollout' | 'BatchRelease', inOrder: T): fc.Arbitrary<T> {
  const change = fc.tuple(fc.constantFrom(...pathsOf(kind)), anything)
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce((object, [path, value]) => set(object, path, value), inOrder))
}

describe('any value at any field', () => {
  it('of a Rollout is reported by field, without an exception', () => {
    let refused = 0
    fc.assert(
      fc.property(spoilt('Rollout', rolloutWith()), fc.option(fc.nat(50)), (value, desired) => {
        const { problems, advice, object } = checkRollout(value, { desired, workloadExists: null })
        expectFindings([...problems, ...advice])
        if (problems.length > 0) refused += 1
        else expect(object).toEqual(value)
        if (object !== null) expect(problems).toEqual(expect.arrayContaining([...validateSpec(object, { desired })]))
        if (problems.length === 0) expectResolvable(value)
      }),
      { numRuns: 400 },
    )
    expect(refused).toBeGreaterThan(100)
  })

  it('of a BatchRelease is reported by field, without an exception', () => {
    let refused = 0
    fc.assert(
      fc.property(spoilt('BatchRelease', batchReleaseWith({}, { tranche: {} })), (value) => {
        const { problems, advice, object } = checkBatchRelease(value)
        expectFindings([...problems, ...advice])
        if (problems.length > 0) refused += 1
        if (object === null || problems.length > 0 || validateBatchRelease(object).length > 0) return
        expectResolvableBatches(object)
      }),
      { numRuns: 400 },
    )
    expect(refused).toBeGreaterThan(100)
  })

  it('is reported for documents too', () => {
    const head = fc.record({
      apiVersion: fc.constantFrom('rollouts.kruise.io/v1beta1', 'apps/v1', 'v1'),
      kind: fc.constantFrom('Rollout', 'BatchRelease', 'DaemonSet'),
    })
    const document = fc.oneof(
      anything,
      fc.tuple(head, fc.dictionary(fc.constantFrom('metadata', 'spec', 'status'), anything)).map(([a, b]) => ({ ...a, ...b })),
      fc.tuple(head, spoilt('Rollout', rolloutWith())).map(([a, b]) => ({ ...a, ...b })),
    )
    fc.assert(
      fc.property(fc.array(document, { maxLength: 4 }), (documents) => {
        const found = checkDocuments(documents)
        expect(found).toHaveLength(documents.length)
        for (const { problems, advice } of found) expectFindings([...problems, ...advice])
      }),
      { numRuns: 300 },
    )
  })
})

describe('any text', () => {
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.constant('x'.repeat(100_000)), fc.constant('[[['.repeat(5_000)))

  it('is a valid action or is reported', () => {
    fc.assert(
      fc.property(text, (action) => {
        const parsed = parseAction(rolloutAnnotated({ 'tranche.dev/action': action }))
        if (parsed.kind === 'problem') expectFindings([parsed.problem])
        else expect(parsed.kind).toBe('action')
      }),
    )
  })

  it('in a Tranche annotation is valid or is reported', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(daemonSetAnnotations)), text, (key, value) => {
        expectFindings(validateKeys({ annotations: { [key]: value } }))
      }),
    )
  })
})

/** A field, a rule and a way out, in text that any JSON can carry and that fits into a message. */
function expectFindings(findings: readonly (Problem | Advice)[]): void {
  for (const finding of findings) {
    expect(finding.path).not.toBe('')
    expect(finding.message).not.toBe('')
    expect(finding.fix).not.toBe('')
    const text = problemText(finding)
    expect(text.isWellFormed()).toBe(true)
    expect(text.length).toBeLessThan(1_500)
  }
  expect(problemsText(findings as readonly Problem[]).length).toBeLessThan(2_500)
}

function expectResolvable({ spec }: Rollout): void {
  if (spec.workloadRef.kind !== 'DaemonSet' || !spec.workloadRef.apiVersion.startsWith('apps/')) return
  for (const desired of [0, 1, 7, 5_000])
    expect(resolveSteps(spec.strategy.canary!.steps!, desired).every((size) => size <= desired)).toBe(true)
}

function expectResolvableBatches({ spec }: BatchRelease): void {
  if (spec.workloadRef?.kind !== 'DaemonSet' || !spec.workloadRef.apiVersion.startsWith('apps/')) return
  const steps = spec.releasePlan.batches!.map(({ canaryReplicas: replicas }) => ({ replicas }))
  for (const desired of [0, 1, 7, 5_000]) expect(resolveSteps(steps, desired).every((size) => size <= desired)).toBe(true)
}

/** Of every field in spec, lists by their first two entries; and of some that no definition has. */
function pathsOf(kind: string): readonly Path[] {
  const { openAPIV3Schema } = customResourceDefinitions.find(({ spec }) => spec.names.kind === kind)!.spec.versions[0]!.schema
  return [
    ...below(openAPIV3Schema.properties!['spec']!, ['spec']),
    ['spec', 'nothing'],
    ['metadata', 'annotations', 'tranche.dev/on-delete'],
  ]
}

function below(schema: StructuralSchema, path: Path): readonly Path[] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => below(member, [...path, name]))
  const items = schema.items === undefined ? [] : [0, 1].flatMap((index) => below(schema.items!, [...path, index]))
  return [path, ...members, ...items]
}

function set<T>(object: T, path: Path, value: unknown): T {
  const [head, ...rest] = path
  if (head === undefined) return value as T
  if (typeof object !== 'object' || object === null) return object
  const copy = (Array.isArray(object) ? [...object] : { ...object }) as Record<string | number, unknown>
  // A list has functions of its own, which no document can hold.
  const inner = Object.hasOwn(copy, head) ? copy[head] : undefined
  copy[head] = set(inner ?? (rest.length > 0 ? {} : undefined), rest, value)
  return copy as T
}

it('a value that JSON cannot express is left out of the text', () => {
  expect(checkRollout(undefined, unknown).problems.map(problemText)).toEqual([
    'the document is missing: it is required; see kubectl explain rollout',
  ])
})
