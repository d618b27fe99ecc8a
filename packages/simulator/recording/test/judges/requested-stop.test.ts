import type { Disturbance } from '@tranche/recording'
import { describe, expect, it } from 'vitest'
import { quietAfter } from '../../src/judges/stops/quiet-time.ts'
import { type Case, type Fields, fleet, judgeEach, type Script } from '../script.ts'

const MINUTE = 60_000
const paused = { spec: { strategy: { paused: true } }, metadata: { generation: 2 } }
const resumed = { spec: { strategy: { paused: false } }, metadata: { generation: 3 } }

function saying(phase: string, observedGeneration: number, reason = 'InRolling'): Fields {
  return { status: { phase, observedGeneration, conditions: [{ type: 'Progressing', status: 'True', reason }] } }
}

/** The fleet with a Rollout of generation 1 whose release is in progress. */
function rolling(): Script {
  return fleet().rollout({ metadata: { generation: 1 }, ...saying('Progressing', 1) }, 'controller-1')
}

/** After a pause that the status acknowledges. */
function halted(script: Script): Script {
  return script.rollout(paused).rollout(saying('Progressing', 2, 'Paused'), 'controller-1')
}

function judged(cases: readonly Case[], disturbances: readonly Disturbance[] | undefined = []): void {
  judgeEach('G9', cases, { begin: rolling, query: () => ({ disturbances }) })
}

describe('a pause', () => {
  judged([
    [
      'may be acknowledged within the time',
      (script) =>
        halted(script)
          .wait(2 * MINUTE)
          .rollout({}),
      [],
    ],
    ['must be acknowledged', (script) => script.rollout(paused).wait(MINUTE).rollout({}), ['G9']],
    ['must be acknowledged, also if nothing is written any more', (script) => script.rollout(paused).wait(MINUTE).node('a'), ['G9']],
    ['counts from its first write on', (script) => script.rollout(paused).wait(40_000).rollout(paused).wait(10_000).rollout({}), ['G9']],
    [
      'needs no acknowledgement if it is lifted in time',
      (script) => script.rollout(paused).wait(30_000).rollout(resumed).wait(MINUTE).rollout({}),
      [],
    ],
    [
      'is not acknowledged by its generation alone while a release is in progress',
      (script) => script.rollout(paused).rollout(saying('Progressing', 2), 'controller-1').wait(MINUTE).rollout({}),
      ['G9'],
    ],
    [
      'is not acknowledged by the reason of a generation before',
      (script) =>
        script
          .rollout(paused)
          .rollout(saying('Progressing', 1, 'Paused'), 'controller-1')
          .wait(MINUTE)
          .rollout({}),
      ['G9'],
    ],
    [
      'is acknowledged by its generation where no release is in progress',
      (script) =>
        script.rollout(saying('Healthy', 1)).rollout(paused).rollout(saying('Healthy', 2), 'controller-1').wait(MINUTE).rollout({}),
      [],
    ],
    ['allows deletions until it is acknowledged', (script) => script.rollout(paused).del('a1'), []],
    ['allows no deletion after its acknowledgement', (script) => halted(script).del('a1'), ['G9 a', 'G9 a']],
    ['allows deletions once it is lifted', (script) => halted(script).rollout(resumed).del('a1'), []],
    [
      'allows no deletion after the time, although nothing acknowledges it',
      (script) => script.rollout(paused).rollout(saying('Progressing', 2), 'controller-1').wait(MINUTE).del('a1'),
      ['G9 a', 'G9'],
    ],
    [
      'allows no deletion of a release that begins meanwhile',
      (script) =>
        script
          .rollout(saying('Healthy', 1))
          .rollout(paused)
          .rollout(saying('Healthy', 2), 'controller-1')
          .rollout(saying('Progressing', 2), 'controller-1')
          .del('a1'),
      ['G9 a'],
    ],
    [
      'does not concern a DaemonSet that is bound to another Rollout',
      (script) => halted(script).annotate({ 'tranche.dev/rollout': 'another' }).del('a1'),
      [],
    ],
    [
      'is outranked by a release that is to be completed before the Rollout goes',
      (script) => {
        const going = { metadata: { generation: 3, deletionTimestamp: 'now', annotations: { 'tranche.dev/on-delete': 'Complete' } } }
        script
          .rollout(paused)
          .rollout(going)
          .wait(5 * MINUTE)
          .del('a1')
      },
      [],
    ],
  ])
})

describe('with faults', () => {
  judgeEach(
    'G9',
    [
      ['the time counts from the last of them on', (script) => script.rollout(paused).wait(100_000).rollout({}), []],
      ['it ends when there was none for long enough', (script) => script.rollout(paused).wait(200_000).rollout({}), ['G9']],
    ],
    {
      begin: rolling,
      query: (script) => {
        const fromMs = script.recording().writes.find(({ actor, kind }) => actor === 'user' && kind === 'Rollout')!.t
        return { disturbances: [{ fromMs: fromMs + 30_000, toMs: fromMs + 90_000 }] }
      },
    },
  )

  judgeEach(
    'G9',
    [['nothing has to be acknowledged where they are unknown', (script) => script.rollout(paused).wait(MINUTE).rollout({}), []]],
    {
      begin: rolling,
    },
  )
})

describe('another stop', () => {
  const disabled = { spec: { disabled: true }, metadata: { generation: 2 } }
  const deleted = { metadata: { generation: 2, deletionTimestamp: 'now' } }
  const abort = { metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'one', type: 'abort' }) } } }
  const byHand = (fields: Fields): Fields => ({ metadata: { generation: 2 }, spec: { tranche: { paused: true } }, ...fields })

  judged([
    [
      'a disabled Rollout must say so',
      (script) =>
        script
          .rollout(disabled)
          .wait(2 * MINUTE)
          .rollout({}),
      ['G9'],
    ],
    [
      'a disabled Rollout may say so',
      (script) =>
        script
          .rollout(disabled)
          .rollout(saying('Disabled', 2))
          .wait(2 * MINUTE)
          .rollout({}),
      [],
    ],
    [
      'a deleted Rollout must go',
      (script) =>
        script
          .rollout(deleted)
          .wait(2 * MINUTE)
          .rollout({}),
      ['G9'],
    ],
    [
      'a deleted Rollout may go',
      (script) =>
        script
          .rollout(deleted)
          .rollout({}, 'controller-1', { type: 'DELETED' })
          .wait(2 * MINUTE)
          .node('a'),
      [],
    ],
    ['an abort must be answered', (script) => script.rollout(abort).wait(MINUTE).rollout({}), ['G9']],
    [
      'an abort may be answered',
      (script) =>
        script
          .rollout(abort)
          .rollout({ status: { lastAction: { id: 'one', type: 'abort' } } })
          .wait(MINUTE)
          .rollout({}),
      [],
    ],
    [
      'a later action may be the last',
      (script) =>
        script
          .rollout(abort)
          .rollout({ status: { answeredActions: ['one', 'two'] } })
          .wait(MINUTE)
          .rollout({}),
      [],
    ],
    [
      'a pause of a BatchRelease written by hand must be acknowledged',
      (script) => script.order(byHand({}), { actor: 'user' }).wait(MINUTE).node('a'),
      ['G9'],
    ],
    [
      'a pause of a BatchRelease written by hand allows no deletion after its acknowledgement',
      (script) =>
        script
          .order(byHand({ status: { observedGeneration: 2 } }), { actor: 'user' })
          .wait(MINUTE)
          .del('a1'),
      ['G9 a', 'G9 a'],
    ],
    [
      'the pause in the BatchRelease of a Rollout is none of a user',
      (script) =>
        script
          .order(byHand({ metadata: { generation: 2, ownerReferences: [{ kind: 'Rollout' }] } }))
          .wait(MINUTE)
          .node('a'),
      [],
    ],
  ])
})

it.each([
  { name: 'ends the time after the request if nothing disturbs it', disturbances: [], expected: 110 },
  { name: 'ignores what was over', disturbances: [{ fromMs: 0, toMs: 100 }], expected: 110 },
  { name: 'ignores what comes later', disturbances: [{ fromMs: 110, toMs: 200 }], expected: 110 },
  { name: 'counts from the end of a disturbance', disturbances: [{ fromMs: 109, toMs: 200 }], expected: 210 },
  {
    name: 'waits for a long enough gap',
    disturbances: [
      { fromMs: 125, toMs: 140 },
      { fromMs: 105, toMs: 120 },
    ],
    expected: 150,
  },
  { name: 'never ends in a disturbance without an end', disturbances: [{ fromMs: 0, toMs: Infinity }], expected: Infinity },
])('the quiet time $name', ({ disturbances, expected }) => {
  expect(quietAfter(disturbances, 100, 10)).toBe(expected)
})
