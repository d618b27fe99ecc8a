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
  const bothHeld = { status: { heldRevisions: [...held.status.heldRevisions, { revision: 'v3', digest: 'd3' }], canaryStatus } }
  const answeredAbort = (s: Script, result = 'Accepted'): Script =>
    s.rollout({ status: { ...nextHeld.status, lastAction: { id: 'w1', type: 'abort', result } } }, 'controller-1')
  const release = (s: Script, hash: string): Script => s.record({ revision: hash })
  /** The status calls v2 failed. */
  const failed = (s: Script, reason = 'ReleaseFailed', canaryRevision = 'v2'): Script =>
    s.order({ status: { failure: { stops: true } } }).rollout(
      {
        status: {
          canaryStatus: { canaryRevision },
          failure: { reason },
          conditions: [{ type: 'Stalled', status: 'True', reason: 'ReleaseFailed' }],
        },
      },
      'controller-1',
    )
  const replaced = (s: Script): Script => s.daemonSet({ template: 'template-1' })
  /** The status answers an action, and a pod is deleted. */
  const unheld = (s: Script, lastAction: Fields): Script =>
    s.rollout({ status: { lastAction } }, 'controller-1').pod('a1').record({}, 'a1').del('a1')
  const forgets = (s: Script, fields: Fields = {}): Script => s.rollout({ status: { heldRevisions: [], ...fields } }, 'controller-1')
  /** Tranche replaces the template, and a user applies it again. */
  const rolledBack = (s: Script): Script =>
    s.rollout({}).daemonSet({ template: 'template-1' }, 'controller-1').daemonSet({ template: 'template-2' })
  /** A user deletes the DaemonSet, and creates it again with this template. */
  const recreated = (s: Script, template = 'template-2'): Script =>
    s.daemonSet({}, 'user', { type: 'DELETED', verb: 'delete' }).daemonSet({ template, annotations: {} })
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
        'is none whose policy a user changed before it was replaced',
        (s) => again(replaced(failed(s).wait(10_000).policy('careful', 1))),
        [],
      ],
      [
        'is none whose failure time may have lifted before it was replaced',
        (s) =>
          again(
            replaced(
              failed(s)
                .order({ spec: { tranche: { failure: { autoResume: '1m' } } } })
                .wait(10_000),
            ),
          ),
        [],
      ],
      [
        'is none whose BatchRelease stops for no failure',
        (s) =>
          again(
            replaced(
              failed(s)
                .order({ status: { failure: { stops: false } } })
                .wait(10_000),
            ),
          ),
        [],
      ],
      [
        'is none whose BatchRelease is gone',
        (s) =>
          again(
            replaced(failed(s).order({}, { type: 'DELETED' }).wait(10_000)).record({
              state: 'open',
              epoch: 1,
              generation: 1,
              revision: 'v2',
              partition: 0,
              limit: 2,
            }),
          ),
        [],
      ],
      [
        'is none that is called failed no more, but another version is',
        (s) => again(replaced(failed(failed(s).wait(10_000), 'ReleaseFailed', 'v3'))),
        [],
      ],
      ['is none where another version is called failed', (s) => again(replaced(failed(s, 'ReleaseFailed', 'v1').wait(10_000))), []],
      [
        'is released after a retry that was accepted',
        (s) => unheld(rolledBack(s).rollout(action('w1', 'retry')), { id: 'w1', type: 'retry', result: 'Accepted' }),
        [],
      ],
      [
        'is released after a retry, although another action was refused then',
        (s) =>
          unheld(rolledBack(s).rollout(action('w1', 'retry')).rollout(action('w2', 'jump')), { id: 'w2', type: 'jump', result: 'Refused' }),
        [],
      ],
      [
        'is not released after another action',
        (s) => unheld(rolledBack(s).rollout(action('w1')), { id: 'w1', type: 'approve', result: 'Accepted' }),
        ['G12 a'],
      ],
      [
        'is none whose step was approved',
        (s) =>
          unheld(s.rollout({ status: { canaryStatus: { canaryRevision: 'v2' } } }, 'controller-1'), {
            id: 'w1',
            type: 'approve',
            result: 'Accepted',
          }),
        [],
      ],
      [
        'is released after a retry that followed the abort, though the status still has the answer to the abort',
        (s) =>
          s
            .rollout({ status: { canaryStatus: { canaryRevision: 'v2' } } }, 'controller-1')
            .rollout({ status: { lastAction: { id: 'w1', type: 'abort', result: 'Accepted' } } }, 'controller-1')
            .rollout(action('w2', 'retry'))
            .rollout({ status: { message: 'hm' } }, 'controller-1')
            .pod('a1')
            .record({}, 'a1')
            .del('a1'),
        [],
      ],
      ['has been one since its first rollback', (s) => rolledBack(rolledBack(s).pod('a1').record({}, 'a1')).del('a1'), ['G12 a']],
      [
        'is none that Tranche replaced only by copies of its config',
        (s) =>
          s
            .rollout({})
            .daemonSet({ template: 'template-p', unpinned: 'template-2', pins: 'ConfigMap/agent=agent-1' }, 'controller-1')
            .daemonSet({ template: 'template-2', unpinned: undefined, pins: undefined })
            .pod('a1')
            .record({}, 'a1')
            .del('a1'),
        [],
      ],
      [
        'is none that is called failed for a moment, after another version',
        (s) => again(replaced(failed(failed(s, 'ReleaseFailed', 'v3').wait(10_000)))),
        [],
      ],
      [
        'is none that was no longer called failed when it was replaced',
        (s) =>
          again(
            replaced(
              failed(s)
                .wait(10_000)
                .rollout({ status: { conditions: [{ type: 'Stalled', status: 'False', reason: 'None' }] } }, 'controller-1'),
            ),
          ),
        [],
      ],
      [
        'is one that Tranche had replaced before a user did, though a rollback puts it back',
        (s) =>
          again(
            replaced(
              failed(s.rollout({}).daemonSet({ template: 'template-1' }, 'controller-1').daemonSet({ template: 'template-2' })).wait(
                10_000,
              ),
            ).daemonSet({ template: 'template-2' }, 'controller-1'),
          ),
        ['G12 a'],
      ],
      ['may have a permit from before the rollback used', (s) => rolledBack(s).del('a1'), []],
      [
        'is forgotten with its Rollout',
        (s) => rolledBack(s).rollout({}, 'user', { type: 'DELETED' }).rollout({}).pod('a1').record({}, 'a1').del('a1'),
        [],
      ],
      ...(
        [
          ['not released after a retry of another version', 'v1', ['G12 a']],
          ['released after a retry that names it', 'v2', []],
        ] as const
      ).map(([how, revision, found]): [string, (s: Script) => Script, readonly string[]] => [
        `is ${how}`,
        (s) =>
          rolledBack(s)
            .rollout({ metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'w1', type: 'retry', revision }) } } })
            .rollout({ status: { lastAction: { id: 'w1', type: 'retry', result: 'Accepted' } } }, 'controller-1')
            .pod('a1')
            .record({}, 'a1')
            .del('a1'),
        found,
      ]),
      [
        'is not released after a retry that was refused',
        (s) =>
          rolledBack(s)
            .rollout(action('w1', 'retry'))
            .rollout({ status: { lastAction: { id: 'w1', type: 'retry', result: 'Refused' } } }, 'controller-1')
            .pod('a1')
            .record({}, 'a1')
            .del('a1'),
        ['G12 a'],
      ],
      [
        'is not released after a retry that preceded the rollback',
        (s) =>
          rolledBack(s.rollout(action('w1', 'retry')))
            .rollout({ spec: { strategy: { paused: false } } })
            .pod('a1')
            .record({}, 'a1')
            .del('a1'),
        ['G12 a'],
      ],
      [
        'is forgotten once ten others were rolled back',
        (s) => {
          rolledBack(s)
          for (let nth = 0; nth < 10; nth++) s.daemonSet({ template: `other-${nth}` }).daemonSet({ template: 'template-1' }, 'controller-1')
          return again(s)
        },
        [],
      ],
      [
        'is none whose abort was refused',
        (s) =>
          s
            .rollout({ status: { canaryStatus: { canaryRevision: 'v2' } } }, 'controller-1')
            .rollout(action('w1', 'abort'))
            .rollout({ status: { lastAction: { id: 'w1', type: 'abort', result: 'Refused' } } }, 'controller-1')
            .pod('a1')
            .record({}, 'a1')
            .del('a1'),
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
      [
        'is none that a rollback puts back because the DaemonSet was created again with it',
        (s) => again(replaced(recreated(rolledBack(s))).daemonSet({ template: 'template-2' }, 'controller-1')),
        [],
      ],
      [
        'is one again once the DaemonSet was created again with another one',
        (s) => {
          const other = recreated(recreated(rolledBack(s)), 'template-3').daemonSet({ template: 'template-2' })
          return again(replaced(other).daemonSet({ template: 'template-2' }, 'controller-1'))
        },
        ['G12 a'],
      ],
      ['gets no deletions in a DaemonSet that was created again with it', (s) => again(recreated(rolledBack(s))), ['G12 a']],
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
        'is blocked since the first status that reports it',
        (s) =>
          s
            .rollout(held, 'controller-1')
            .pod('a1')
            .record({}, 'a1')
            .rollout({ status: { message: 'hm' } }, 'controller-1')
            .del('a1'),
        ['G12 a'],
      ],
      [
        'is forgotten after a retry whose answer has no result',
        (s) => forgets(s.rollout(held, 'controller-1').rollout(action('w1', 'retry')), { lastAction: { id: 'w1' } }),
        [],
      ],
      [
        'is not forgotten together with another one after a retry',
        (s) => {
          const two = { status: { heldRevisions: [...held.status.heldRevisions, { revision: 'v9', digest: 'template-9' }] } }
          return forgets(s.rollout(two, 'controller-1').rollout(action('w1', 'retry')), { lastAction: { id: 'w1' } })
        },
        ['G12'],
      ],
      ['is not forgotten after another action', (s) => forgets(s.rollout(held, 'controller-1').rollout(action('w1'))), ['G12']],
      [
        'is not forgotten after a retry of an earlier Rollout',
        (s) => forgets(s.rollout(action('w1', 'retry')).rollout({}, 'user', { type: 'DELETED' }).rollout({}).rollout(held, 'controller-1')),
        ['G12'],
      ],
      [
        'is not forgotten because a user writes the Rollout with the retry again',
        (s) =>
          forgets(
            forgets(s.rollout(held, 'controller-1').rollout(action('w1', 'retry')), { lastAction: { id: 'w1', result: 'Accepted' } })
              .rollout(held, 'controller-1')
              .rollout({ spec: { strategy: { paused: false } } }),
          ),
        ['G12'],
      ],
      [
        'is not forgotten when another version is rolled back to another one than it',
        (s) =>
          s
            .rollout({ status: { ...held.status, canaryStatus: { canaryRevision: 'v3', stableRevision: 'v1' } } }, 'controller-1')
            .rollout({ status: { heldRevisions: [{ revision: 'v3', digest: 'd3' }] } }, 'controller-1'),
        ['G12'],
      ],
      [
        'is not forgotten once another version has been rolled back to it',
        (s) => s.rollout(bothHeld, 'controller-1').rollout(nextHeld, 'controller-1'),
        ['G12'],
      ],
      [
        'is forgotten by the abort of another version that was blocked, too, and applied again',
        (s) => answeredAbort(s.rollout(bothHeld, 'controller-1').rollout(action('w1', 'abort'))),
        [],
      ],
      [
        'is not forgotten by an abort that is refused',
        (s) => answeredAbort(s.rollout(bothHeld, 'controller-1').rollout(action('w1', 'abort')), 'Refused'),
        ['G12'],
      ],
      [
        'is forgotten by an abort without an id',
        (s) =>
          s
            .rollout(bothHeld, 'controller-1')
            .rollout({ metadata: { annotations: { 'tranche.dev/action': '{"type": "abort"}' } } })
            .rollout({ status: { ...nextHeld.status, lastAction: { id: 'auto-1a', type: 'abort', result: 'Accepted' } } }, 'controller-1'),
        [],
      ],
      [
        'is not forgotten by an abort of an earlier Rollout',
        (s) =>
          answeredAbort(
            s.rollout(action('w1', 'abort')).rollout({}, 'user', { type: 'DELETED' }).rollout({}).rollout(bothHeld, 'controller-1'),
          ),
        ['G12'],
      ],
      ['is not forgotten by an abort that no user asked for', (s) => answeredAbort(s.rollout(bothHeld, 'controller-1')), ['G12']],
      [
        'is forgotten when another version is rolled back to it, though its ControllerRevision is not known',
        (s) =>
          s
            .rollout(
              {
                status: { heldRevisions: [{ revision: 'v9', digest: 'd9' }], canaryStatus: { canaryRevision: 'v3', stableRevision: 'v9' } },
              },
              'controller-1',
            )
            .rollout({ status: { heldRevisions: [{ revision: 'v3', digest: 'd3' }] } }, 'controller-1'),
        [],
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
