import type { RecordedWrite } from '@tranche/recording'
import { describe, expect, it } from 'vitest'
import type { Standing } from './admission-control.ts'
import type { Asked } from './callers.ts'
import { findPassed } from './judge-admission.ts'
import { findBrokenAnswers } from './judge-answers.ts'

/** One write after the other, a second apart. */
function writesOf(...parts: readonly Partial<RecordedWrite>[]): readonly RecordedWrite[] {
  return parts.map((part, at) => ({ t: (at + 1) * 1_000, type: 'MODIFIED', kind: 'Rollout', rv: at + 1, uid: 'r', o: {}, ...part }))
}

interface At {
  readonly step?: number
  readonly state?: string
  readonly revision?: string
  readonly paused?: boolean
  readonly disabled?: boolean
  readonly records?: readonly object[]
  readonly seen?: readonly object[]
  readonly accepted?: string
}

/** The Rollout as this actor has written it. */
function rollout(actor: string, { step = 1, state = 'StepPaused', revision = 'v2', paused = false, disabled = false, ...at }: At = {}) {
  const { records = [], seen = [], accepted } = at
  const annotations = { 'tranche.dev/recorded-actions': JSON.stringify(records), 'tranche.dev/observed-changes': JSON.stringify(seen) }
  const status = {
    canaryStatus: { currentStepIndex: step, currentStepState: state, canaryRevision: revision },
    ...(accepted !== undefined && { lastAction: { id: accepted, result: 'Accepted' } }),
  }
  return { actor, o: { metadata: { name: 'agent', annotations }, spec: { disabled, strategy: { paused } }, status } } as const
}

function daemonSet(
  actor: string,
  { template = 'old', records = [] as readonly object[], canary = 'v2', type = 'OnDelete', bound = true, released = false } = {},
) {
  const annotations = {
    'tranche.dev/recorded-actions': JSON.stringify(records),
    'rollouts.kruise.io/daemonset-canary-revision': canary,
    ...(bound && { 'tranche.dev/rollout': 'agent' }),
    ...(released && { 'rollouts.kruise.io/in-progressing': '{"rolloutName":"agent"}' }),
  }
  const labels = { 'rollouts.kruise.io/workload-type': 'daemonset' }
  return { kind: 'DaemonSet', uid: 'd', actor, o: { name: 'agent', annotations, labels, template, strategy: { type } } } as const
}

const deletion = { kind: 'Pod', uid: 'p', verb: 'delete', actor: 'executor-1', o: { name: 'agent-1' } } as const
const revision = {
  kind: 'ControllerRevision',
  type: 'ADDED',
  uid: 'c',
  o: { ownerUid: 'd', hash: 'v1', revision: 1, template: 'good' },
} as const
const approve = { id: 'rest-1', type: 'approve', expectedStep: 1, revision: 'v2' }
const pause = { id: 'rest-1', type: 'pause' }
const abort = { id: 'rest-1', type: 'abort' }
const undo = { id: 'rest-1', type: 'undo', toRevision: 'v1' }

function answered(type: Asked['type'], state: 'accepted' | 'acknowledged', { atMs, body = {} }: { atMs: number; body?: object }): Asked {
  const answer = { id: 'rest-1', type, state, message: '', repeated: false }
  return { key: 'ask-1', type, body, sentMs: 0, outcome: { kind: 'answered', atMs, answer }, faults: [] }
}

const found = (writes: readonly RecordedWrite[], asked: readonly Asked[] = []): readonly string[] =>
  findBrokenAnswers(writes, asked).map(({ guarantee, text }) => `${guarantee} ${text}`)

describe('finds nothing where', () => {
  it.each<[string, readonly RecordedWrite[], readonly Asked[]]>([
    [
      'the intended step is approved, and opens',
      writesOf(
        rollout('controller-1'),
        rollout('api-1', { records: [approve] }),
        rollout('controller-1', { records: [approve], state: 'StepUpgrade', step: 2, accepted: 'rest-1' }),
      ),
      [answered('approve', 'acknowledged', { atMs: 3_500, body: { expectedStep: 1, revision: 'v2' } })],
    ],
    [
      'helper pods go after a pause',
      writesOf(rollout('api-1'), rollout('api-1', { paused: true, records: [pause] }), { ...deletion, o: { name: 'pull', helper: 'v2' } }),
      [answered('pause', 'acknowledged', { atMs: 2_500 })],
    ],
    [
      'a pause is lifted before a pod is deleted',
      writesOf(rollout('api-1'), rollout('api-1', { paused: true, records: [pause] }), rollout('people', { records: [pause] }), deletion),
      [answered('pause', 'acknowledged', { atMs: 2_500 })],
    ],
    [
      'a pod is deleted before the pause is answered',
      writesOf(rollout('api-1'), rollout('api-1', { paused: true, records: [pause] }), deletion),
      [answered('pause', 'acknowledged', { atMs: 3_500 })],
    ],
    [
      'the pause that was answered had been lifted, and another has been asked for since',
      writesOf(
        rollout('api-1', { paused: true, records: [pause] }),
        rollout('people', { records: [pause] }),
        rollout('people', { paused: true, records: [pause] }),
        deletion,
      ),
      [answered('pause', 'acknowledged', { atMs: 3_500 })],
    ],
    [
      'the oldest action makes room for a seventeenth',
      writesOf(rollout('api-1'), rollout('api-1', { records: many(0, 16) }), rollout('api-1', { records: many(1, 17) })),
      [],
    ],
    [
      'another version is released after an abort',
      writesOf(
        daemonSet('people'),
        rollout('controller-1'),
        rollout('api-1', { records: [abort] }),
        rollout('controller-1', { records: [abort], accepted: 'rest-1' }),
        daemonSet('people', { template: 'new' }),
        deletion,
      ),
      [],
    ],
    [
      'an undo restores the revision that was asked for',
      writesOf(revision, daemonSet('people'), daemonSet('api-1', { template: 'good', records: [undo] })),
      [],
    ],
    [
      'a revision of another namespace names the same owner and the same number',
      writesOf(
        { ...revision, namespace: 'demo' },
        { ...revision, namespace: 'tenant', uid: 'forged', o: { ...revision.o, template: 'forged' } },
        { ...daemonSet('people'), namespace: 'demo' },
        { ...daemonSet('api-1', { template: 'good', records: [undo] }), namespace: 'demo' },
      ),
      [],
    ],
  ])('%s', (_title, writes, asked) => {
    expect(found(writes, asked)).toEqual([])
  })
})

describe('finds that', () => {
  it.each<[string, readonly RecordedWrite[], readonly Asked[]]>([
    [
      'G7 the approve ask-1 was answered accepted, and is not on the record',
      writesOf(rollout('controller-1')),
      [answered('approve', 'accepted', { atMs: 1_500 })],
    ],
    [
      'G7 the approve ask-1 was answered acknowledged, and no controller had acted on it',
      writesOf(rollout('controller-1'), rollout('api-1', { records: [approve] })),
      [answered('approve', 'acknowledged', { atMs: 2_500, body: { expectedStep: 1, revision: 'v2' } })],
    ],
    [
      'G7 the approve ask-1 was answered accepted, and was recorded with expectedStep 1, not 2',
      writesOf(rollout('controller-1'), rollout('api-1', { records: [approve] })),
      [answered('approve', 'accepted', { atMs: 2_500, body: { expectedStep: 2, revision: 'v2' } })],
    ],
    [
      'G7 the pause ask-1 was answered accepted, and was recorded with reason undefined, not ask-1',
      writesOf(rollout('controller-1'), rollout('api-1', { records: [pause] })),
      [answered('pause', 'accepted', { atMs: 2_500, body: { reason: 'ask-1' } })],
    ],
    [
      'G7 pause (rest-1) was written a second time, by api-2',
      writesOf(
        rollout('api-1'),
        rollout('api-1', { records: [pause] }),
        { ...daemonSet('api-2'), type: 'ADDED' },
        daemonSet('api-2', { records: [pause] }),
      ),
      [],
    ],
    [
      'G7 api-2 took pause (rest-1) from the record before its time',
      writesOf(rollout('api-1'), rollout('api-1', { records: [pause] }), rollout('api-2', { records: [{ id: 'rest-2', type: 'resume' }] })),
      [],
    ],
    [
      'G10 approve (rest-1) was written though it is meant for step 1 and the release is at 2',
      writesOf(rollout('controller-1', { step: 2 }), rollout('api-1', { step: 2, records: [approve] })),
      [],
    ],
    [
      'G10 approve (rest-1) was written though it is meant for revision v2 and v3 is released',
      writesOf(rollout('controller-1', { revision: 'v3' }), rollout('api-1', { revision: 'v3', records: [approve] })),
      [],
    ],
    [
      'G10 approve (rest-1) was accepted though it is meant for step 1 and the release is at 2',
      writesOf(
        rollout('controller-1'),
        rollout('api-1', { records: [approve] }),
        rollout('controller-1', { records: [approve], step: 2 }),
        rollout('controller-2', { records: [approve], step: 3, accepted: 'rest-1' }),
      ),
      [],
    ],
    [
      'G10 approve (rest-1) of step 1 led to step 3',
      writesOf(
        rollout('controller-1'),
        rollout('api-1', { records: [approve] }),
        rollout('controller-1', { records: [approve], step: 3, accepted: 'rest-1' }),
      ),
      [],
    ],
    [
      'G9 pod agent-1, deleted by executor-1, though the pause ask-1 was answered and no user has lifted it',
      writesOf(rollout('api-1'), rollout('api-1', { paused: true, records: [pause] }), deletion),
      [answered('pause', 'acknowledged', { atMs: 2_500 })],
    ],
    [
      'G9 pod agent-1, deleted by executor-1 for v2, though rest-1 has aborted it',
      writesOf(
        daemonSet('people'),
        rollout('controller-1'),
        rollout('api-1', { records: [abort] }),
        rollout('controller-1', { records: [abort], accepted: 'rest-1' }),
        deletion,
      ),
      [],
    ],
    [
      'G10 the undo (rest-1) to v1 has restored another template',
      writesOf(revision, daemonSet('people'), daemonSet('api-1', { template: 'bad', records: [undo] })),
      [],
    ],
    [
      'G7 the undo (rest-1) has changed nothing',
      writesOf(daemonSet('people'), daemonSet('api-1', { records: [{ ...undo, toRevision: undefined }] })),
      [],
    ],
    [
      'G7 controller-1 reports the action of api-1 as a change outside Tranche (seen-1-pause)',
      writesOf(rollout('api-1'), rollout('controller-1', { seen: [{ id: 'seen-1-pause', manager: 'tranche-api' }] })),
      [],
    ],
    [
      'G7 controller-1 reports seen-1-pause twice',
      writesOf(rollout('people'), rollout('controller-1', { seen: [{ id: 'seen-1-pause' }, { id: 'seen-1-pause' }] })),
      [],
    ],
  ])('%s', (text, writes, asked) => {
    expect(found(writes, asked)).toEqual([text])
  })

  it.each(['INVARIANT_BROKEN', 'ACCESS_DENIED', 'TOKEN_INVALID'])('G7 an answer was %s, at the end or before', (code) => {
    const one = answered('pause', 'accepted', { atMs: 1_500 })
    const refused: Asked = { ...one, outcome: { kind: 'refused', atMs: 1_500, code } }
    const text = `G7 the pause ask-1 was answered with ${code}`
    expect(found([], [refused])).toEqual([text])
    expect(found([], [{ ...refused, outcome: { kind: 'unanswered', code: 'API_DEADLINE' }, faults: [code] }])).toEqual([text])
    expect(found([], [{ ...refused, outcome: { kind: 'refused', atMs: 1_500, code: 'STEP_MOVED' } }])).toEqual([])
  })

  it.each([
    ['approve', 1],
    ['retry', 0],
  ])('G9 a pod is deleted after an abort though %s was accepted since, unless that action lifts the abort', (type, count) => {
    const other = { id: 'rest-2', type }
    const writes = writesOf(
      daemonSet('people'),
      rollout('controller-1'),
      rollout('api-1', { records: [abort] }),
      rollout('controller-1', { records: [abort], accepted: 'rest-1' }),
      rollout('api-1', { records: [abort, other] }),
      rollout('controller-1', { records: [abort, other], accepted: 'rest-2' }),
      deletion,
    )
    expect(found(writes).filter((text) => text.startsWith('G9'))).toHaveLength(count)
  })
})

describe('a template that is rolled out natively', () => {
  const standing: readonly Standing[] = [
    { fromMs: 0, toMs: 2_500 },
    { fromMs: 4_500, toMs: null },
  ]
  const native = { template: 'new', type: 'RollingUpdate' }

  it.each([
    ['has passed admission that was installed', writesOf(daemonSet('people'), daemonSet('people', native)), 1],
    [
      'has passed it, once it is installed again',
      writesOf(daemonSet('people'), deletion, deletion, deletion, daemonSet('people', native)),
      1,
    ],
    ['came while admission was uninstalled', writesOf(daemonSet('people'), deletion, daemonSet('people', native)), 0],
    ['belongs to a DaemonSet that is not bound', writesOf(daemonSet('people', { bound: false }), daemonSet('people', native)), 0],
    ['was written by Tranche', writesOf(daemonSet('people'), daemonSet('controller-1', native)), 0],
    [
      'is written by users who have disabled its Rollout',
      writesOf(daemonSet('people'), rollout('people', { disabled: true }), deletion, deletion, daemonSet('people', native)),
      0,
    ],
    [
      'has passed it under a Rollout that is not disabled',
      writesOf(daemonSet('people'), rollout('people'), deletion, deletion, daemonSet('people', native)),
      1,
    ],
    ['is the same as before', writesOf(daemonSet('people'), daemonSet('people', { type: 'RollingUpdate' })), 0],
  ])('%s', (_title, writes, count) => {
    expect(findPassed(writes, standing).map(({ guarantee }) => guarantee)).toEqual(Array.from({ length: count }, () => 'G3'))
  })
})

describe('a RollingUpdate that replaces OnDelete', () => {
  const native = { type: 'RollingUpdate', released: true }

  it.each([
    ['has passed admission in mid-release', 'people', { released: true }, 1],
    ['was written by Tranche', 'controller-1', { released: true }, 0],
    ['came between releases', 'people', {}, 0],
    ['was there before', 'people', native, 0],
  ])('%s', (_title, actor, before, count) => {
    const writes = writesOf(daemonSet('people', before), daemonSet(actor, native))
    expect(findPassed(writes, [{ fromMs: 0, toMs: null }]).map(({ guarantee }) => guarantee)).toEqual(count === 1 ? ['G11'] : [])
  })
})

describe('a key of Tranche', () => {
  const PARTITION = 'rollouts.kruise.io/daemonset-partition'
  const stored = {
    'tranche.dev/rollout': 'agent',
    'tranche.dev/paused': 'true',
    [PARTITION]: '3',
    'rollouts.kruise.io/in-progressing': '{"rolloutName":"agent"}',
    'batchrelease.rollouts.kruise.io/control-info': '{}',
  }
  const bound = daemonSet('controller-1').o
  const write = (actor: string, annotations: object, fields: object = {}) => ({
    kind: 'DaemonSet',
    uid: 'd',
    actor,
    o: { ...bound, annotations, ...fields },
  })
  const without = (key: string): object => Object.fromEntries(Object.entries(stored).filter(([one]) => one !== key))

  it.each<[string, Partial<RecordedWrite>, readonly string[]]>([
    ['is a partition that was changed past admission', write('people', { ...stored, [PARTITION]: '0' }), ['G3']],
    ['is a partition that was removed', write('people', without(PARTITION)), ['G3']],
    ['is a pause that was removed', write('people', without('tranche.dev/paused')), ['G9']],
    ['is a binding that was removed', write('people', without('tranche.dev/rollout')), ['G11']],
    [
      'is the removed reference to the BatchRelease in charge',
      write('people', without('batchrelease.rollouts.kruise.io/control-info')),
      ['G4'],
    ],
    ['is the removed label by which admission selects the DaemonSet', write('people', stored, { labels: {} }), ['G11']],
    ['is missing with a new template', write('people', stored, { template: 'new' }), ['G11']],
    [
      'is present with a new template',
      write('people', { ...stored, 'rollouts.kruise.io/daemonset-original-update-strategy': 'OnDelete' }, { template: 'new' }),
      [],
    ],
    [
      'names the same Rollout, with a member of another version',
      write('people', { ...stored, 'rollouts.kruise.io/in-progressing': '{"rolloutName":"agent","more":1}' }),
      [],
    ],
    ['is changed by Tranche', write('controller-1', without(PARTITION)), []],
    ['did not exist before', write('people', { ...stored, 'tranche.dev/frozen': '{}' }), []],
    ['is deleted with its DaemonSet', { ...write('people', stored), type: 'DELETED' }, []],
  ])('%s', (_title, next, expected) => {
    const writes = writesOf(write('controller-1', stored), next)
    expect(findPassed(writes, [{ fromMs: 0, toMs: null }]).map(({ guarantee }) => guarantee)).toEqual(expected)
    expect(findPassed(writes, [])).toEqual([])
  })
})

function many(from: number, to: number): readonly object[] {
  return Array.from({ length: to - from }, (_, at) => ({ id: `rest-${from + at}`, type: 'pause' }))
}
