import type { RecordedWrite } from '@tranche/recording'
import { expect, it } from 'vitest'
import { NEXT_IN_ACTIONS, NEXT_MEMBER } from '../scenarios/next-version.ts'
import { findForgotten } from './find-forgotten.ts'

const served = { kind: 'CustomResourceDefinition', o: { spec: { names: { kind: 'Rollout' }, versions: [{ [NEXT_MEMBER]: {} }] } } }
const next = { [NEXT_MEMBER]: 'controller-1' }
const canaryStatus = { canaryRevision: 'v2' }

function rollout(status: object, annotations: object = {}, actor = 'controller-2'): Partial<RecordedWrite> {
  return { kind: 'Rollout', uid: 'r', actor, o: { metadata: { name: 'agent', annotations }, status } }
}

const recorded = (...records: readonly object[]): object => ({ 'tranche.dev/recorded-actions': JSON.stringify(records) })
const action = { id: 'rest-1', [NEXT_IN_ACTIONS]: 'api-1' }

const inFlight = { flight: { workloadUid: 'ds-1', permits: [], ...next } }

function release(status: object, t: number): RecordedWrite {
  return { kind: 'BatchRelease', type: 'MODIFIED', rv: t, uid: 'b', actor: 'executor-1', t, o: { metadata: { name: 'agent' }, status } }
}

it.each([
  ['before the executor has read the object under the next definitions', [{ t: 20_000, to: 'executor-1', of: 'batchreleases', rv: 1 }], 0],
  ['after the executor has read it', [{ t: 23_000, to: 'executor-1', of: 'batchreleases', rv: 1 }], 1],
])('a member that was lost when definitions were replaced and restored, %s', (_title, deliveries, found) => {
  const define = (t: number, member: object): RecordedWrite => {
    const o = { spec: { names: { kind: 'BatchRelease' }, versions: [member] } }
    return { kind: 'CustomResourceDefinition', type: 'MODIFIED', rv: t, t, o }
  }
  const { [NEXT_MEMBER]: _lost, ...cut } = inFlight.flight as Record<string, unknown>
  const writes = [
    define(0, { [NEXT_MEMBER]: {} }),
    release(inFlight, 5_000),
    define(10_000, {}),
    define(20_000, { [NEXT_MEMBER]: {} }),
    release({ flight: cut }, 30_000),
  ]
  expect(findForgotten(writes, () => true, { stalls: [], deliveries })).toHaveLength(found)
})

it.each<[string, readonly Partial<RecordedWrite>[], readonly string[]]>([
  ['a status that keeps the member', [served, rollout(next), rollout({ ...next, phase: 'Healthy' })], []],
  ['a status that has lost the member', [served, rollout(next), rollout({})], ['status']],
  ['a status that another client has overwritten', [served, rollout(next), rollout({}, {}, 'people')], []],
  [
    'a member of the canaryStatus, lost in mid-release',
    [
      served,
      rollout({ phase: 'Progressing', canaryStatus: { ...canaryStatus, ...next } }),
      rollout({ phase: 'Progressing', canaryStatus }),
    ],
    ['status.canaryStatus (v2, from generation undefined)'],
  ],
  [
    'a member of the canaryStatus, once its release is detached and another of the same revision has started',
    [
      served,
      rollout({ phase: 'Progressing', canaryStatus: { ...canaryStatus, ...next } }),
      rollout({ phase: 'Disabled', canaryStatus: { ...canaryStatus, ...next } }),
      rollout({ phase: 'Progressing', canaryStatus }),
    ],
    [],
  ],
  [
    'a member of the canaryStatus of a release that was being detached, once the Rollout is enabled again and has started another one',
    [
      served,
      rollout({ phase: 'Disabling', canaryStatus: { ...canaryStatus, ...next, currentStepState: 'StepUpgrade' } }),
      rollout({ phase: 'Progressing', canaryStatus: { ...canaryStatus, currentStepState: 'BeforeStepUpgrade' } }),
    ],
    [],
  ],
  [
    'a member of the canaryStatus of a release that is completed before the Rollout goes, lost on the way',
    [
      served,
      rollout({ phase: 'Disabling', canaryStatus: { ...canaryStatus, ...next, currentStepState: 'StepUpgrade' } }),
      rollout({ phase: 'Disabling', canaryStatus: { ...canaryStatus, currentStepState: 'Completed' } }),
    ],
    ['status.canaryStatus (v2, from generation undefined)'],
  ],
  [
    'a recorded action that has lost the member',
    [rollout({}, recorded(action)), rollout({}, recorded({ id: 'rest-1' }))],
    ['rest-1 in tranche.dev/recorded-actions'],
  ],
  ['a recorded action that was dropped for a newer one', [rollout({}, recorded(action)), rollout({}, recorded({ id: 'rest-2' }))], []],
])('%s', (_title, parts, places) => {
  const writes = parts.map((part, at): RecordedWrite => ({ t: at * 10_000, type: 'MODIFIED', rv: at, o: {}, kind: 'Rollout', ...part }))
  const texts = findForgotten(writes, (actor) => actor !== 'people').map(({ text }) => text)
  expect(texts).toEqual(places.map((place) => expect.stringContaining(`forgot ${place} of the Rollout`)))
})
