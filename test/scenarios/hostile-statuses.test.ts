import { customResourceDefinitions } from '@tranche/api-schema'
import {
  allowedActions,
  explainNode,
  explainRollout,
  type ReleaseFacts,
  reportBatches,
  reportHistory,
  reportNodes,
  reportRevisions,
  reportRollout,
  summarizeRollout,
} from '@tranche/reports'
import { createCustomResourceSchema, type JsonObject } from '@tranche/sim-api'
import { expect, it } from 'vitest'
import { FakeCluster } from '../fakes/fake-cluster.ts'
import { act, settle } from '../fakes/settle.ts'

/** API servers accept it as a date-time; the simulator is stricter, so a time stands in for it while it validates. */
const NO_TIME = '2026-01-01T00:00:00x0Z'
const STAND_IN = '2031-03-03T03:03:03Z'

/** Values in the place of any member of a status; `undefined` removes the member. */
const values: readonly unknown[] = [
  ...[undefined, null, true, '', 'x', STAND_IN, '9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z'],
  ...[-1, 0, 1, 2 ** 31 - 1, 2 ** 53, -(2 ** 63), [], {}, [{}], ['']],
]

const kinds = ['Rollout', 'BatchRelease'] as const
type Kind = (typeof kinds)[number]

/** Moments of a release, each of which another part of the code reads. */
const stages: readonly ((fake: FakeCluster) => void)[] = [
  // While a step is being updated.
  (fake) => {
    for (let round = 0; round < 8; round++) act(fake)
  },
  // In a pause.
  (fake) => settle(fake),
  // In a timed pause.
  (fake) => {
    fake.editRollout((spec) => ({ ...spec, strategy: { canary: { steps: [{ replicas: '40%', pause: { duration: 3_600 } }] } } }))
    for (let round = 0; round < 60; round++) act(fake)
  },
  // After a failure.
  (fake) => {
    settle(fake)
    fake.latch({ recoveredSince: STAND_IN })
    settle(fake)
  },
  // When it is over.
  (fake) => {
    settle(fake)
    fake.setCanaryStatus({ currentStepState: 'StepReady' })
    settle(fake)
  },
]

it.each(kinds)('the planners and reports read any status of a %s that API servers accept', (kind) => {
  const field = kind === 'Rollout' ? 'rollout' : 'release'
  const faults = new Map<string, string>()
  let read = 0
  for (const [index, prepare] of stages.entries()) {
    const fake = new FakeCluster()
    settle(fake)
    fake.setImage('v2')
    prepare(fake)
    const object = fake[field]
    if (object === undefined) continue
    for (const { path, status } of mutationsOf(kind, object as unknown as JsonObject, index))
      try {
        read += 1
        readAll(fake, { [field]: { ...object, status } })
      } catch (error) {
        faults.set(
          String((error as Error).stack)
            .split('\n')
            .slice(0, 3)
            .join('\n'),
          path,
        )
      }
  }
  expect([...faults]).toEqual([])
  expect(read).toBeGreaterThan(150)
})

/** Reads the objects as controller, executor and API do. */
function readAll(before: FakeCluster, changed: Pick<Partial<FakeCluster>, 'rollout' | 'release'>): void {
  const fake = Object.assign(new FakeCluster(), before, changed)
  const view = fake.rolloutView()!
  const { rollout, release, daemonSet, revisions, fleet, nowMs, monotonicMs } = view
  const facts: ReleaseFacts = { rollout, release, daemonSet, revisions, fleet, nowMs, monotonicMs }
  for (const report of [summarizeRollout, reportRollout, explainRollout, reportNodes, reportBatches, reportHistory, reportRevisions])
    JSON.stringify(report(facts))
  JSON.stringify([explainNode(facts, 'node-0'), allowedActions(facts)])
  fake.passRollout()
  fake.passRelease()
  fake.passExecutor()
}

interface Mutation {
  readonly path: string
  readonly status: never
}

/**
 * Statuses that differ in one member from the present one with every member, and that API servers accept. Each member comes with
 * half of the values, in one of the stages each.
 */
function* mutationsOf(kind: Kind, object: JsonObject, stage: number): Generator<Mutation> {
  const { schema, status } = schemaOf(kind)
  const base = merged(sampleOf(status), object['status'])
  const isAccepted = (candidate: unknown): boolean => schema.validate({ ...object, status: candidate } as JsonObject).length === 0
  expect(schema.validate({ ...object, status: base } as JsonObject)).toEqual([])
  for (const [at, path] of pathsIn(base).entries())
    for (const [index, value] of values.entries()) {
      if ((at + index) % (2 * stages.length) !== stage) continue
      const candidate = replaced(base, path, value)
      if (!isAccepted(candidate)) continue
      yield { path: `${path.join('.')}: ${JSON.stringify(value)}`, status: candidate as never }
      if (value === STAND_IN) yield { path: `${path.join('.')}: no time`, status: replaced(base, path, NO_TIME) as never }
    }
}

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

function schemaOf(kind: Kind) {
  const { schema } = customResourceDefinitions.find(({ spec }) => spec.names.kind === kind)!.spec.versions[0]!
  const { openAPIV3Schema } = schema as unknown as { readonly openAPIV3Schema: Schema }
  return { schema: createCustomResourceSchema(openAPIV3Schema), status: openAPIV3Schema.properties!['status']! }
}

/** A value with every member of the schema. */
function sampleOf({ type, format, enum: words, minimum = 1, properties, items }: Schema): unknown {
  if (words !== undefined) return words[0]
  if (type === 'object') return Object.fromEntries(Object.entries(properties ?? {}).map(([name, one]) => [name, sampleOf(one)]))
  if (type === 'array') return items === undefined ? [] : [sampleOf(items)]
  if (type === 'integer' || type === 'number') return Math.max(1, minimum)
  if (type === 'boolean') return false
  return format === 'date-time' ? STAND_IN : '1'
}

/** The value with what it lacks of the sample. */
function merged(sample: unknown, value: unknown): unknown {
  if (value === undefined) return sample
  if (!isRecord(sample) || !isRecord(value)) return value
  return Object.fromEntries(
    [...new Set([...Object.keys(value), ...Object.keys(sample)])].map((name) => [name, merged(sample[name], value[name])]),
  )
}

function pathsIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (!isRecord(value) && !Array.isArray(value)) return [path]
  return [
    path,
    ...Object.entries(value)
      .slice(0, 40)
      .flatMap(([name, one]) => pathsIn(one, [...path, name])),
  ]
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by
  const copy = (Array.isArray(value) ? [...(value as readonly unknown[])] : { ...(value as JsonObject) }) as Record<string, unknown>
  const inner = replaced(copy[name], rest, by)
  if (inner === undefined && !Array.isArray(copy)) delete copy[name]
  else copy[name] = inner
  return copy
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
