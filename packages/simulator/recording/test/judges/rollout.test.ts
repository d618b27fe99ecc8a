import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const quiescent = { query: (script: Script) => ({ quiescentFromMs: script.nowMs - 1_000 }) }
const steps = [
  { replicas: '50%', pause: {} },
  { replicas: '100%', pause: { duration: 60 } },
]
const healthy = { status: { phase: 'Healthy', observedGeneration: 1 } }
const at = (index: number, state: string, next = index + 1): Fields => ({
  status: { phase: 'Progressing', canaryStatus: { currentStepIndex: index, nextStepIndex: next, currentStepState: state } },
})
const action = (id: string, type = 'approve'): Fields => ({
  metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id, type }) } },
})

/** The fleet with a Rollout of two steps, in the first one. */
function released(): Script {
  const spec = { strategy: { canary: { steps } } }
  return fleet()
    .rollout({ metadata: { generation: 1 }, spec })
    .rollout({ ...at(1, 'StepPaused') }, 'controller-1')
    .rollout({ status: { observedGeneration: 1 } }, 'controller-1')
}

/** Every node runs the new version. */
function done(script: Script): Script {
  for (const name of 'abcd') script.del(`${name}1`).replace(`${name}1`)
  return script
}

describe('the end of a quiescent recording', () => {
  judgeEach(
    'G6',
    [
      ['is a completed release', (s) => done(s).rollout(healthy, 'controller-1').wait(2_000), []],
      ['is not a release in progress', (s) => s.rollout(at(2, 'StepUpgrade'), 'controller-1').wait(2_000), ['G6']],
      ['is not a release reported as complete while nodes are left', (s) => s.rollout(healthy, 'controller-1').wait(2_000), ['G6']],
      [
        'is not one with a node without an available pod',
        (s) => done(s).pod("a1'", { ready: false }).rollout(healthy, 'controller-1').wait(2_000),
        ['G6'],
      ],
      ['may be a pause that waits for a person', (s) => s.wait(2_000), []],
      ['is not a pause that ends by time', (s) => s.rollout(at(2, 'StepPaused'), 'controller-1').wait(2_000), ['G6']],
      [
        'may be a Rollout that is paused',
        (s) => s.rollout({ ...at(2, 'StepUpgrade'), spec: { strategy: { paused: true } } }).wait(2_000),
        [],
      ],
      ['may be a Rollout that is disabled', (s) => s.rollout({ ...at(2, 'StepUpgrade'), spec: { disabled: true } }).wait(2_000), []],
      [
        'may be a stalled Rollout',
        (s) =>
          s
            .rollout(at(2, 'StepUpgrade'), 'controller-1')
            .rollout({ status: { conditions: [{ type: 'Stalled', status: 'True', reason: 'PodsStuck' }] } }, 'controller-1')
            .wait(2_000),
        [],
      ],
      [
        'is not a Rollout that was stalled before',
        (s) =>
          s
            .rollout(at(2, 'StepUpgrade'), 'controller-1')
            .rollout({ status: { conditions: [{ type: 'Stalled', status: 'False', reason: 'PodsStuck' }] } }, 'controller-1')
            .wait(2_000),
        ['G6'],
      ],
      ['does not matter without a Rollout', (s) => s.rollout({}, 'user', { type: 'DELETED' }).wait(2_000), []],
      [
        'does not matter without the DaemonSet',
        (s) => s.rollout(at(2, 'StepUpgrade'), 'controller-1').daemonSet({}, 'user', { type: 'DELETED' }).wait(2_000),
        [],
      ],
      [
        'ignores undesired nodes',
        (s) =>
          done(s)
            .node('e', { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
            .rollout(healthy, 'controller-1')
            .wait(2_000),
        [],
      ],
      ['includes nodes that joined', (s) => done(s).node('e').rollout(healthy, 'controller-1').wait(2_000), ['G6']],
    ],
    { begin: released, ...quiescent },
  )

  judgeEach('G6', [['is not checked before the last fault has ended', (s) => s.rollout(at(2, 'StepUpgrade'), 'controller-1'), []]], {
    begin: released,
  })
})

describe('a request', () => {
  const answered = (id: string): Fields => ({ status: { lastAction: { id, result: 'Accepted' } } })
  judgeEach(
    'G7',
    [
      ['is an action that lastAction answers', (s) => s.rollout(action('w1')).rollout(answered('w1'), 'controller-1').wait(2_000), []],
      [
        'is an action that answeredActions knows',
        (s) =>
          s
            .rollout(action('w1'))
            .rollout({ status: { answeredActions: ['w0', 'w1'] } }, 'controller-1')
            .wait(2_000),
        [],
      ],
      ['is lost without an answer', (s) => s.rollout(action('w1')).rollout(answered('w0'), 'controller-1').wait(2_000), ['G7']],
      [
        'is superseded by another action',
        (s) => s.rollout(action('w1')).rollout(action('w2')).rollout(answered('w2'), 'controller-1').wait(2_000),
        [],
      ],
      [
        'is not read if it is not JSON',
        (s) => s.rollout({ metadata: { annotations: { 'tranche.dev/action': 'approve' } } }).wait(2_000),
        [],
      ],
      [
        'is an approval after which the step advances',
        (s) => s.rollout(at(1, 'StepReady')).rollout(at(2, 'StepUpgrade'), 'controller-1').wait(2_000),
        [],
      ],
      ['is an approval that is reset', (s) => s.rollout(at(1, 'StepReady')).rollout(at(1, 'StepPaused'), 'controller-1').wait(2_000), []],
      [
        'is lost if the step does not change',
        (s) =>
          s
            .rollout(at(1, 'StepReady'))
            .rollout({ status: { message: 'hm' } }, 'controller-1')
            .wait(2_000),
        ['G7'],
      ],
      [
        'is a jump that is carried out',
        (s) =>
          s
            .rollout(at(1, 'StepPaused', 1))
            .rollout(at(1, 'StepUpgrade', 2), 'controller-1')
            .wait(2_000),
        [],
      ],
      ['is lost if the jump is not carried out', (s) => s.rollout(at(1, 'StepPaused', 1)).wait(2_000), ['G7']],
      [
        'is a spec that the status has observed',
        (s) =>
          s
            .rollout({ metadata: { generation: 2 } })
            .rollout({ status: { observedGeneration: 2 } }, 'controller-1')
            .wait(2_000),
        [],
      ],
      [
        'is lost if the status never observes it',
        (s) =>
          s
            .rollout({ metadata: { generation: 2 } })
            .rollout({ status: { message: 'hm' } }, 'controller-1')
            .wait(2_000),
        ['G7'],
      ],
      ['is over with its Rollout', (s) => s.rollout(action('w1')).rollout({}, 'user', { type: 'DELETED' }).wait(2_000), []],
      ['is not checked if it was written after the start of quiescence', (s) => s.wait(2_000).rollout(action('w1')), []],
    ],
    { begin: released, ...quiescent },
  )
})

describe('a status write', () => {
  judgeEach(
    'G10',
    [
      [
        'may change what its writer has read',
        (s) => s.rollout(at(1, 'StepReady')).rollout(at(2, 'StepUpgrade'), 'controller-1', { basedOn: s.rv }),
        [],
      ],
      [
        'may not change what its writer has not read',
        (s) => s.rollout(at(1, 'StepReady')).rollout(at(1, 'StepPaused'), 'controller-1'),
        ['G10'],
      ],
      [
        'may not overwrite a jump either',
        (s) => s.rollout(at(1, 'StepPaused', 1)).rollout(at(1, 'StepPaused', 2), 'controller-1'),
        ['G10'],
      ],
      [
        "may overwrite the writer's own text",
        (s) => s.rollout(at(2, 'StepUpgrade'), 'controller-1').rollout(at(2, 'StepPaused'), 'controller-1'),
        [],
      ],
      ['may change other fields', (s) => s.rollout(at(1, 'StepReady')).rollout({ status: { message: 'hm' } }, 'controller-1'), []],
      ['may not change the spec', (s) => s.rollout({ spec: { strategy: { paused: false } } }, 'controller-1'), ['G10']],
      [
        'may not remove an action',
        (s) => s.rollout(action('w1')).rollout({ metadata: { annotations: { 'tranche.dev/action': undefined } } }, 'controller-1'),
        ['G10'],
      ],
      [
        'does not concern other actors',
        (s) =>
          s
            .rollout(at(1, 'StepReady'))
            .rollout(at(1, 'StepPaused'))
            .rollout({ spec: { disabled: true } }),
        [],
      ],
    ],
    { begin: released },
  )
})

describe('a blocked revision', () => {
  const held = { status: { heldRevisions: [{ revision: 'v2', digest: 'd2' }] } }
  const canaryStatus = { canaryRevision: 'v3', stableRevision: 'v2' }
  const stableHeld = { status: { ...held.status, canaryStatus } }
  const renamed = { ...canaryStatus, stableRevision: 'v2b' }
  const stableRenamed = { status: { ...held.status, canaryStatus: renamed } }
  const nextRenamed = { status: { heldRevisions: [{ revision: 'v3', digest: 'd3' }], canaryStatus: renamed } }
  const nextHeld = { status: { heldRevisions: [{ revision: 'v3', digest: 'd3' }], canaryStatus } }
  const release = (s: Script, hash: string): Script => s.record({ revision: hash })
  /** The status calls v2 failed. */
  const failed = (s: Script, reason = 'ReleaseFailed'): Script =>
    s.order({ status: { failure: { stops: true } } }).rollout(
      {
        status: {
          canaryStatus: { canaryRevision: 'v2' },
          failure: { reason },
          conditions: [{ type: 'Stalled', status: 'True', reason: 'ReleaseFailed' }],
        },
      },
      'controller-1',
    )
  const replaced = (s: Script): Script => s.daemonSet({ template: 'template-1' })
  const again = (s: Script): Script => s.daemonSet({ template: 'template-2' }).pod('a1').record({}, 'a1').del('a1')
  judgeEach(
    'G12',
    [
      [
        'is one whose template Tranche replaced, whatever the status says',
        (s) =>
          s
            .rollout({})
            .daemonSet({ template: 'template-1' }, 'controller-1')
            .daemonSet({ template: 'template-2' })
            .pod('a1')
            .record({}, 'a1')
            .del('a1'),
        ['G12 a'],
      ],
      [
        'is one that was aborted',
        (s) =>
          s
            .rollout({ status: { canaryStatus: { canaryRevision: 'v2' } } }, 'controller-1')
            .rollout(action('w1', 'abort'))
            .rollout({ status: { lastAction: { id: 'w1', type: 'abort', result: 'Accepted' } } }, 'controller-1')
            .pod('a1')
            .record({}, 'a1')
            .del('a1'),
        ['G12 a'],
      ],
      [
        'is released after a retry that followed the rollback',
        (s) =>
          s
            .rollout({})
            .daemonSet({ template: 'template-1' }, 'controller-1')
            .daemonSet({ template: 'template-2' })
            .rollout(action('w1', 'retry'))
            .pod('a1')
            .record({}, 'a1')
            .del('a1'),
        [],
      ],
      [
        'is one that users read as failed when they replaced it, though it was never rolled back',
        (s) => again(replaced(failed(s).wait(10_000))),
        ['G12 a'],
      ],
      ['is none that was called failed a moment before it was replaced', (s) => again(replaced(failed(s).wait(9_000))), []],
      ['is none that failed only by its analysis', (s) => again(replaced(failed(s, 'AnalysisFailed').wait(10_000))), []],
      [
        'is none whose failure a user may have accepted before it was replaced',
        (s) => again(replaced(failed(s).wait(10_000).rollout(action('w1', 'retry')))),
        [],
      ],
      [
        'is one that Tranche replaced, though Tranche itself puts it back',
        (s) =>
          s
            .rollout({})
            .daemonSet({ template: 'template-1' }, 'controller-1')
            .daemonSet({ template: 'template-2' }, 'controller-1')
            .pod('a1')
            .record({}, 'a1')
            .del('a1'),
        ['G12 a'],
      ],
      [
        'is none that a rollback puts back',
        (s) => again(replaced(failed(s).wait(10_000)).daemonSet({ template: 'template-2' }, 'controller-1')),
        [],
      ],
      ['gets no deletions', (s) => s.rollout(held, 'controller-1').pod('a1').record({}, 'a1').del('a1'), ['G12 a']],
      ['may have an earlier permit used', (s) => s.rollout(held, 'controller-1').del('a1'), []],
      ['is not blocked before the status reports it', (s) => s.del('a1').rollout(held, 'controller-1'), []],
      [
        'is blocked under another hash too',
        (s) => release(s.rollout(held, 'controller-1').revision('v3', 'template-2'), 'v3').pod('a1').record({}, 'a1').del('a1'),
        ['G12 a'],
      ],
      [
        'does not affect another template',
        (s) => release(s.rollout(held, 'controller-1').revision('v3', 'template-3'), 'v3').del('a1'),
        [],
      ],
      [
        'is released after a retry',
        (s) =>
          s
            .rollout(held, 'controller-1')
            .rollout(action('w1', 'retry'))
            .rollout({ status: { heldRevisions: [] } }, 'controller-1')
            .del('a1'),
        [],
      ],
      [
        'is not forgotten without a retry',
        (s) => s.rollout(held, 'controller-1').rollout({ status: { heldRevisions: [] } }, 'controller-1'),
        ['G12'],
      ],
      [
        'is not forgotten a second time by one retry',
        (s) =>
          s
            .rollout(held, 'controller-1')
            .rollout(action('w1', 'retry'))
            .rollout({ status: { heldRevisions: [], lastAction: { id: 'w1', result: 'Accepted' } } }, 'controller-1')
            .rollout(held, 'controller-1')
            .rollout({ status: { heldRevisions: [] } }, 'controller-1'),
        ['G12'],
      ],
      [
        'is not forgotten by a retry that was refused',
        (s) =>
          s
            .rollout(held, 'controller-1')
            .rollout(action('w1', 'retry'))
            .rollout({ status: { heldRevisions: [], lastAction: { id: 'w1', result: 'Refused' } } }, 'controller-1'),
        ['G12'],
      ],
      [
        'is forgotten when the release of another version is rolled back to it, because it is the stable one',
        (s) => s.rollout(stableHeld, 'controller-1').rollout(nextHeld, 'controller-1'),
        [],
      ],
      [
        'is forgotten then, too, where the stable revision has another hash by now',
        (s) => s.revision('v2b', 'template-2').rollout(stableRenamed, 'controller-1').rollout(nextRenamed, 'controller-1'),
        [],
      ],
      [
        'is not forgotten when another version is rolled back to a third one',
        (s) => s.rollout(held, 'controller-1').rollout(nextHeld, 'controller-1'),
        ['G12'],
      ],
      [
        'is not forgotten while nothing is rolled back, though it is the stable one',
        (s) => s.rollout(stableHeld, 'controller-1').rollout({ status: { ...stableHeld.status, heldRevisions: [] } }, 'controller-1'),
        ['G12'],
      ],
      [
        'is forgotten after ten newer ones',
        (s) =>
          s
            .rollout(held, 'controller-1')
            .rollout({ status: { heldRevisions: Array.from({ length: 10 }, (_, nth) => ({ digest: `x${nth}` })) } }, 'controller-1'),
        [],
      ],
    ],
    { begin: released },
  )
})
