import { customResourceDefinitions, type Rollout, type StructuralSchema } from '@tranche/api-schema'
import { KubeStatusError, resourcePaths } from '@tranche/kube-client'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { validateSpec } from '@tranche/validation'
import fc from 'fast-check'
import { afterEach, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { condition, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

type Path = readonly (string | number)[]
interface Spoil {
  readonly path: Path
  readonly value: unknown
}

const nodes = 6
const tricky = fc.constantFrom<unknown>(
  '',
  '0%',
  '100%',
  '50%',
  '-1',
  'ಠ_ಠ\u202e',
  -1,
  0,
  1,
  3,
  1.5,
  2 ** 31,
  null,
  true,
  [],
  {},
  'x'.repeat(20_000),
  Array.from({ length: 500 }, () => ({ replicas: 1 })),
)
const anything = fc.oneof(tricky, fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: 'binary', maxLength: 20 }), fc.integer())

it('an invalid field in the spec of a Rollout is rejected or held with its name, and a valid spec continues', async () => {
  const errors = await begin()
  let [refused, held, accepted] = [0, 0, 0]
  for (const { path, value } of spoils('Rollout', 'spec', 60)) {
    await stage.setImage(`v${refused + held + accepted + 2}`)
    const stored = await stage.rollout()
    const answer = await stage.client
      .update(resourcePaths.rollouts, set({ ...stored, ...inOrder() }, path, value) as never)
      .catch((error: unknown) => error)
    if (answer instanceof KubeStatusError) {
      expect([400, 422]).toContain(answer.status)
      expect(answer.message).toContain(String(path[1]))
      refused += 1
      continue
    }
    await stage.pass(2_000)
    const [problem] = validateSpec(await stage.rollout(), { desired: nodes })
    if (problem === undefined) {
      accepted += 1
      continue
    }
    held += 1
    expect(await condition(stage, 'Stalled')).toMatchObject({
      status: 'True',
      reason: problem.reason,
      message: expect.stringContaining(problem.path),
    })
    const deleted = deletions(stage)
    await stage.pass(3_000)
    expect(deletions(stage)).toBe(deleted)
  }
  expect(Math.min(refused, held, accepted)).toBeGreaterThan(5)
  await fixAndRelease()
  expect(errors()).toEqual([])
  expectKept(stage)
})

it("invalid values in a status or in Tranche's annotations break nothing, and the release continues afterwards", async () => {
  const errors = await begin()
  await stage.client.update(resourcePaths.rollouts, { ...(await stage.rollout()), ...inOrder() } as never)
  await stage.setImage('v2')
  for (const { path, value } of spoils('Rollout', 'status', 40)) {
    await stage.client
      .patch(resourcePaths.rollouts, stageKey, { type: 'merge', body: set({}, path, value) as object }, { subresource: 'status' })
      .catch(refusedByField)
    await stage.pass(700)
  }
  for (const [key, value] of fc.sample(fc.tuple(fc.constantFrom(...Object.values(daemonSetAnnotations)), keyText), {
    numRuns: 25,
    seed: 3,
  })) {
    await stage.client
      .patch(resourcePaths.daemonSets, stageKey, { type: 'merge', body: { metadata: { annotations: { [key]: value } } } })
      .catch(refusedByField)
    await stage.pass(700)
  }
  await stage.patchDaemonSet({
    metadata: { annotations: Object.fromEntries(Object.values(daemonSetAnnotations).map((key) => [key, null])) },
  })
  await fixAndRelease()
  expect(errors()).toEqual([])
})

const keyText = fc.oneof(
  fc.json({ maxDepth: 2 }),
  fc.constantFrom(null, '', '0', '-1', 'x', '99999999999', 'OnDelete', '{"name":"node-agent","uid":"x"}', '{"name":3}', '[]'),
)

/** @returns error lines that the programs have logged, without lost races and rejections by the API server */
async function begin(): Promise<() => readonly string[]> {
  const lines: string[] = []
  const log: Logger = {
    ...silentLogger,
    child: () => log,
    error: (fields, message) => void lines.push(`${message}: ${String((fields as { err?: unknown }).err ?? '')}`),
    warn(fields, message) {
      const { err } = fields as { readonly err?: unknown }
      if (err instanceof TypeError || err instanceof RangeError || err instanceof SyntaxError) lines.push(`${message}: ${err.stack ?? ''}`)
    },
  }
  stage = await setStage({ nodes, log })
  return () => lines
}

async function fixAndRelease(): Promise<void> {
  await stage.client.update(resourcePaths.rollouts, { ...(await stage.rollout()), ...inOrder([{ replicas: '100%' }]) } as never)
  await stage.setImage('v-last')
  await untilReleased(stage, 'v-last')
}

function inOrder(steps: NonNullable<Rollout['spec']['strategy']['canary']>['steps'] = [{ replicas: 1 }, { replicas: '100%' }]) {
  return { spec: (rolloutManifest({ steps }) as Pick<Rollout, 'spec'>).spec }
}

function refusedByField(error: unknown): void {
  expect(error).toBeInstanceOf(KubeStatusError)
  expect([400, 409, 422]).toContain((error as KubeStatusError).status)
}

/** Invalid values for fields that DaemonSets use, the same ones each time. */
function spoils(kind: string, part: 'spec' | 'status', count: number): readonly Spoil[] {
  const { openAPIV3Schema } = customResourceDefinitions.find(({ spec }) => spec.names.kind === kind)!.spec.versions[0]!.schema
  const paths = below(openAPIV3Schema.properties![part]!, [part]).filter((path) => path.length > 1)
  const spoil = fc.oneof(fc.record({ path: fc.constantFrom(...paths), value: anything }), fittingSpoil(part))
  return fc.sample(spoil, { numRuns: count, seed: 7 })
}

/** Values that the schema accepts, and only Tranche's rules can reject. */
function fittingSpoil(part: 'spec' | 'status'): fc.Arbitrary<Spoil> {
  const text = fc.constantFrom('', '0%', '40%', '100%', '101%', '7', 'ಠ_ಠ\u202e', 'x'.repeat(20_000))
  const fields: Record<'spec' | 'status', readonly string[]> = {
    spec: [
      ...['0.replicas', '1.replicas', '1.traffic'].map((field) => `canary.steps.${field}`),
      'canary.failureThreshold',
      'canary.trafficRoutingRef',
    ],
    status: [
      'currentStepState',
      'stableRevision',
      'canaryStatus.currentStepState',
      'canaryStatus.canaryRevision',
      'canaryStatus.finalisingStep',
    ],
  }
  const prefix = part === 'spec' ? ['spec', 'strategy'] : ['status']
  const path = fc
    .constantFrom(...fields[part])
    .map((field) => [...prefix, ...field.split('.').map((name) => (/^\d$/.test(name) ? Number(name) : name))])
  return fc.record({ path, value: fc.oneof(text, fc.integer({ min: -2, max: 9 })) })
}

function below(schema: StructuralSchema, path: Path): readonly Path[] {
  if (schema.description?.startsWith('Not for DaemonSets') && path.length > 3) return [path]
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => below(member, [...path, name]))
  const items = schema.items === undefined ? [] : below(schema.items, [...path, 0])
  return [path, ...members, ...items]
}

function set<T>(object: T, path: Path, value: unknown): T {
  const [head, ...rest] = path
  if (head === undefined) return value as T
  const base: unknown = object ?? (typeof head === 'number' ? [] : {})
  const copy = (Array.isArray(base) ? [...base] : { ...(base as object) }) as Record<string | number, unknown>
  copy[head] = set(copy[head], rest, value)
  return copy as T
}
