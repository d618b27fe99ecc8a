import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

/** Our status reports the step; with `by`, another actor writes it. */
function status(script: Script, members: Fields, by = 'controller-1'): Script {
  return script.rollout({ status: members }, by, by === 'user' ? {} : { basedOn: script.rv })
}

function at(script: Script, state: string, index = 1, observedGeneration?: number): Script {
  const canaryStatus = { currentStepIndex: index, nextStepIndex: index + 1, currentStepState: state, canaryRevision: 'v2' }
  const observed = observedGeneration === undefined ? {} : { observedGeneration }
  return status(script, { phase: 'Progressing', currentStepState: state, canaryStatus, ...observed })
}

/** Our status reports this generation. */
function seen(script: Script, observedGeneration: number): Script {
  return status(script, { observedGeneration })
}

function replaced(script: Script): Script {
  return script.rollout({ metadata: { generation: 2 }, spec: { strategy: { canary: { steps: [{}, { pause: {} }, {}] } } } })
}

function act(script: Script, type: string, members: Fields = {}): Script {
  return script.rollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'w1', type, ...members }) } } })
}

function answer(script: Script, result: string, members: Fields = {}): Script {
  return status(script, { lastAction: { id: 'w1', type: 'approve', result, ...members } })
}

const approved = { canaryStatus: { currentStepState: 'StepReady' } }
const begin = (): Script =>
  at(fleet().rollout({ metadata: { generation: 1 }, spec: { strategy: { canary: { steps: [{ pause: {} }, {}] } } } }), 'StepPaused')

describe('an action', () => {
  judgeEach(
    'G7',
    [
      ['is answered once', (s) => status(answer(act(s, 'approve'), 'Accepted'), { message: 'on' }), []],
      [
        'is not answered a second time',
        (s) => answer(answer(act(s, 'approve'), 'Accepted', { at: '10:00' }), 'Refused', { at: '10:01' }),
        ['G7'],
      ],
      [
        'is refused a second time after another actor removed the answer',
        (s) => answer(status(answer(act(s, 'approve'), 'Accepted'), { lastAction: undefined }, 'user'), 'Refused', { at: '10:01' }),
        [],
      ],
      [
        'is not accepted a second time, even after another actor removed the answer',
        (s) => answer(status(answer(act(s, 'approve'), 'Accepted'), { lastAction: undefined }, 'user'), 'Accepted', { at: '10:01' }),
        ['G7'],
      ],
      ['is answered again with different content', (s) => answer(act(answer(act(s, 'approve'), 'Accepted'), 'abort'), 'Refused'), []],
    ],
    { begin },
  )
  judgeEach(
    'G10',
    [
      ['is accepted at its step', (s) => answer(act(s, 'approve', { expectedStep: 1 }), 'Accepted'), []],
      ['is not accepted at another step', (s) => answer(act(s, 'approve', { expectedStep: 2 }), 'Accepted'), ['G10']],
      ['is refused at another step', (s) => answer(act(s, 'approve', { expectedStep: 2 }), 'Refused'), []],
      ['is not accepted for another revision', (s) => answer(act(s, 'abort', { revision: 'v9' }), 'Accepted'), ['G10']],
    ],
    { begin },
  )
})

describe('StepReady in the status', () => {
  judgeEach(
    'G10',
    [
      ['approves a waiting step', (s) => at(status(s, approved, 'user'), 'BeforeStepUpgrade', 2), []],
      ['is not reset at a waiting step', (s) => at(status(s, approved, 'user'), 'StepPaused'), ['G10']],
      [
        'is reset at a waiting step if the revision is blocked',
        (s) => status(at(status(s, { ...approved, heldRevisions: [{ revision: 'v2', digest: 'd' }] }, 'user'), 'StepPaused'), {}),
        [],
      ],
      [
        'is reset at a waiting step if the version had failed, even if the same write has pruned that',
        (s) => at(status(status(s, { failure: { stops: true } }), { ...approved, failure: undefined }, 'user'), 'StepPaused'),
        [],
      ],
      [
        'is reset at a waiting step if the BatchRelease is stopped for a failure that the status does not report yet',
        (s) => at(status(s.record({ state: 'stopped', holds: [{ reason: 'ReleaseFailed', id: 'x' }] }), approved, 'user'), 'StepPaused'),
        [],
      ],
      [
        'is not reset at a waiting step if the BatchRelease is stopped for another reason',
        (s) => at(status(s.record({ state: 'stopped', holds: [{ reason: 'Paused', id: 'x' }] }), approved, 'user'), 'StepPaused'),
        ['G10'],
      ],
      ['is reset if the step does not wait', (s) => at(status(at(s, 'StepUpgrade'), approved, 'user'), 'StepUpgrade'), []],
      [
        'does not approve a step that does not wait',
        (s) => at(status(at(s, 'StepUpgrade'), approved, 'user'), 'BeforeStepUpgrade', 2),
        ['G10'],
      ],
      [
        'approves nothing if the steps are replaced, and another step is the present one',
        (s) => at(status(replaced(at(seen(s, 1), 'StepUpgrade')), approved, 'user'), 'BeforeStepUpgrade', 2),
        [],
      ],
      [
        'does not approve a step that does not wait, even if the steps were replaced before',
        (s) => at(status(at(seen(replaced(s), 2), 'StepUpgrade', 1, 2), approved, 'user'), 'BeforeStepUpgrade', 2, 2),
        ['G10'],
      ],
      ['is not kept for later', (s) => at(status(at(s, 'StepUpgrade'), approved, 'user'), 'StepReady'), ['G10']],
    ],
    { begin },
  )
})

describe('a permit that was used', () => {
  judgeEach('G7', [
    ['stays while its node is in flight', (s) => s.del('a1').record({}, 'a1 b1'), []],
    ['is lost if it leaves the record before', (s) => s.del('a1').record({}, 'b1'), ['G7 a']],
    ['leaves when another pod is available', (s) => s.del('a1').replace('a1').record({}, 'b1'), []],
    ['is lost if that pod is not Ready', (s) => s.del('a1').replace('a1', { ready: false }).record({}, 'b1'), ['G7 a']],
    ['leaves with its node', (s) => s.del('a1').removeNode('a').record({}, 'b1'), []],
  ])
})
