import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const ours = 'controller-1'
const original = 'rollouts.kruise.io/daemonset-original-update-strategy'
const onDelete = { strategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 2 } } }
const rolling = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } } }
const abort = { metadata: { annotations: { 'tranche.dev/action': '{"id":"w1","type":"abort"}' } } }
const abortAgain = { metadata: { annotations: { 'tranche.dev/action': '{"id":"w3","type":"abort"}' } } }
const retry = { metadata: { annotations: { 'tranche.dev/action': '{"id":"w2","type":"retry"}' } } }
const setBack = (s: Script): Script => s.daemonSet(rolling).daemonSet(onDelete, ours)
/** Changes made together, in one write. */
const changed = (s: Script, annotations: Readonly<Record<string, unknown>>, fields: object): Script => {
  const before = { 'rollouts.kruise.io/daemonset-canary-revision': 'v2', [original]: 'RollingUpdate' }
  const merged = Object.fromEntries(Object.entries({ ...before, ...annotations }).filter(([, value]) => value !== undefined))
  return s.daemonSet({ annotations: merged, ...fields }, ours)
}

describe('a change of keys that belong to the user', () => {
  judgeEach('G11', [
    [
      "may concern Tranche's annotations",
      (s) => s.annotate({ 'rollouts.kruise.io/daemonset-partition': '1', 'tranche.dev/paused': 'true' }),
      [],
    ],
    ["may concern Tranche's label", (s) => s.daemonSet({ labels: { 'rollouts.kruise.io/workload-type': 'daemonset' } }, ours), []],
    [
      'may be the template generation that the API server counts',
      (s) => s.annotate({ 'deprecated.daemonset.template.generation': '2' }),
      [],
    ],
    ['must not concern another annotation', (s) => s.annotate({ 'example.com/owner': 'us' }), ['G11']],
    ['must not concern another label', (s) => s.daemonSet({ labels: { app: 'x' } }, ours), ['G11']],
    ['must not concern minReadySeconds', (s) => s.daemonSet({ minReadySeconds: 5 }, ours), ['G11']],
    [
      'must not concern maxUnavailable',
      (s) => s.daemonSet({ strategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 3 } } }, ours),
      ['G11'],
    ],
    ['must not concern any other field', (s) => s.daemonSet({ rest: 'another' }, ours), ['G11']],
    [
      'does not count if another client wrote it',
      (s) => s.daemonSet({ rest: 'another', minReadySeconds: 5, labels: { app: 'x' }, template: 'template-9' }),
      [],
    ],
  ])
})

describe('the template', () => {
  const putBack = { template: 'template-1' }
  const named = { metadata: { annotations: { 'tranche.dev/release-policy': 'careful' } } }
  const ruled = (s: Script, failure: object, name = 'careful'): Script => s.policy(name, 2, {}, { failure })
  const reverting = (s: Script): Script => ruled(s, { onReapply: 'Revert' })
  const holdOf = (revision: string | undefined, reason = 'Aborted'): Fields => ({ revision, digest: `d-${revision}`, reason })
  const held = (s: Script, ...holds: readonly Fields[]): Script => s.rollout({ status: { heldRevisions: holds } }, ours)
  const failed = (s: Script): Script => held(s, holdOf('v2', 'Failed'))
  /** A user aborts v2, and Tranche accepts it. */
  const aborted = (s: Script): Script => held(s.rollout(abort), holdOf('v2'))
  /** A user aborts v2; later v3 is released. */
  const passedBy = (s: Script): Script => aborted(s).daemonSet({ template: 'template-3' }).revision('v3', 'template-3')
  /** Other definitions have removed the blocked revisions from the status. */
  const pruned = (s: Script, text: string): Script => s.rollout({ metadata: { annotations: { 'tranche.dev/held-revisions': text } } }, ours)
  const copyOf = (...revisions: readonly string[]): string => JSON.stringify(revisions.map((one) => holdOf(one)))
  const again = (s: Script, ms: number): Script => s.daemonSet({ template: 'template-2' }).wait(ms).daemonSet(putBack, ours)
  const begin = (): Script => fleet({ template: 'template-1' }).daemonSet({ template: 'template-2' }).rollout(named)
  judgeEach(
    'G11',
    [
      ['is restored by an abort that is accepted', (s) => aborted(s).daemonSet(putBack, ours), []],
      ['is not restored by an abort that has no answer', (s) => s.rollout(abort).daemonSet(putBack, ours), ['G11']],
      [
        'is not restored by an abort that is refused',
        (s) =>
          s
            .rollout(abort)
            .rollout({ status: { lastAction: { id: 'w1', type: 'abort', result: 'Refused' } } }, ours)
            .daemonSet(putBack, ours),
        ['G11'],
      ],
      ['is not restored by the abort of an earlier version', (s) => passedBy(s).daemonSet(putBack, ours), ['G11']],
      [
        'is restored by an abort, although an earlier version was aborted, too',
        (s) => held(passedBy(s).rollout(abortAgain), holdOf('v2'), holdOf('v3')).daemonSet(putBack, ours),
        [],
      ],
      [
        'is restored by an abort under another name of the revision',
        (s) => held(s.rollout(abort).revision('v2b', 'template-2'), holdOf('v2b')).daemonSet(putBack, ours),
        [],
      ],
      [
        'may be restored if no ControllerRevision shows the template of the aborted version',
        (s) => held(s.rollout(abort), holdOf('v9')).daemonSet(putBack, ours),
        [],
      ],
      [
        'may be restored if the status does not name the aborted revision',
        (s) => held(s.rollout(abort), holdOf(undefined)).daemonSet(putBack, ours),
        [],
      ],
      [
        'is restored by an abort that only the annotation still has',
        (s) => pruned(s.rollout(abort), copyOf('v1', 'v2')).daemonSet(putBack, ours),
        [],
      ],
      [
        'is not restored by the abort of an earlier version that only the annotation still has',
        (s) => pruned(s.rollout(abort), copyOf('v1')).daemonSet(putBack, ours),
        ['G11'],
      ],
      [
        'is not restored by an annotation whose hold a retry has removed from the status',
        (s) => pruned(held(s), copyOf('v2')).daemonSet(putBack, ours),
        ['G11'],
      ],
      ['is not restored by an annotation that is not JSON', (s) => pruned(s, 'v2').daemonSet(putBack, ours), ['G11']],
      [
        'is restored if the Rollout has to end with a rollback',
        (s) =>
          s
            .rollout({ metadata: { annotations: { 'tranche.dev/on-delete': 'Rollback' }, deletionTimestamp: 'now' } })
            .daemonSet(putBack, ours),
        [],
      ],
      [
        'is not restored if it has to freeze',
        (s) => s.rollout({ metadata: { deletionTimestamp: 'now' } }).daemonSet(putBack, ours),
        ['G11'],
      ],
      ['is not restored without a request', (s) => s.daemonSet(putBack, ours), ['G11']],
      [
        'is restored by a verdict if the policy says Rollback',
        (s) => failed(ruled(s, { action: 'Rollback' })).daemonSet(putBack, ours),
        [],
      ],
      ['is not restored by a verdict if no policy says so', (s) => failed(ruled(s, { action: 'Pause' })).daemonSet(putBack, ours), ['G11']],
      ['is restored once for one abort', (s) => again(aborted(s).daemonSet(putBack, ours), 20_000), ['G11']],
      ['is restored again for another abort', (s) => again(aborted(s).daemonSet(putBack, ours).rollout(abortAgain), 20), []],
      ['is restored again after a retry', (s) => again(aborted(s).daemonSet(putBack, ours).rollout(retry).rollout(abortAgain), 20), []],
      ['is restored again if the policy says Revert', (s) => again(aborted(reverting(s)).daemonSet(putBack, ours), 20_000), []],
      [
        'is restored again if the policy says so after the release',
        (s) => again(reverting(aborted(s).daemonSet(putBack, ours)), 20_000),
        [],
      ],
      [
        'is not restored again because of a policy that the Rollout does not name',
        (s) => again(ruled(aborted(s), { onReapply: 'Revert' }, 'other').daemonSet(putBack, ours), 20_000),
        ['G11'],
      ],
      [
        'is not restored again because our BatchRelease says so',
        (s) => again(aborted(s.order({ spec: { tranche: { failure: { onReapply: 'Revert' } } } })).daemonSet(putBack, ours), 20_000),
        ['G11'],
      ],
      [
        'is restored again as soon as clocks with whole seconds allow',
        (s) => again(aborted(reverting(s)).daemonSet(putBack, ours), 8_500),
        [],
      ],
      ['is restored again no sooner than after 10 s', (s) => again(aborted(reverting(s)).daemonSet(putBack, ours), 5_000), ['G11']],
      ['never becomes one that it was not before', (s) => aborted(s).daemonSet({ template: 'template-7' }, ours), ['G11']],
    ],
    { begin },
  )
  judgeEach(
    'G11',
    [['is restored again sooner if the clock was set', (s) => again(aborted(reverting(s)).daemonSet(putBack, ours), 5_000), []]],
    { begin, query: (s) => ({ clockSteps: [{ atMs: s.nowMs - 2_000, ms: -6_000 }] }) },
  )
})

describe('the strategy of the user', () => {
  judgeEach('G11', [
    [
      'is recorded as it was',
      (s) =>
        s
          .annotate({ [original]: undefined }, 'user')
          .daemonSet(rolling)
          .daemonSet({ ...onDelete, annotations: { [original]: 'RollingUpdate' } }, ours),
      [],
    ],
    [
      'is not recorded as another',
      (s) =>
        s
          .annotate({ [original]: undefined }, 'user')
          .daemonSet(rolling)
          .daemonSet({ ...onDelete, annotations: { [original]: 'OnDelete' } }, ours),
      ['G11'],
    ],
    [
      'is not changed without a record',
      (s) =>
        s
          .annotate({ [original]: undefined }, 'user')
          .daemonSet(rolling)
          .daemonSet(onDelete, ours),
      ['G11'],
    ],
    ['is not overwritten', (s) => s.annotate({ [original]: 'OnDelete' }), ['G11']],
    ['is forgotten once it is restored', (s) => changed(s, { [original]: undefined }, rolling), []],
    ['is not forgotten before', (s) => changed(s, { [original]: undefined }, {}), ['G11']],
  ])
})

describe('a conflict over the strategy', () => {
  judgeEach('G11', [
    ['continues after the first round', (s) => setBack(s).del('a1'), []],
    ['ends after the second', (s) => setBack(setBack(s)).del('a1'), ['G11 a']],
    ['has not begun its second round before Tranche has answered it', (s) => setBack(s).daemonSet(rolling).del('a1'), []],
    ['is over when a user sets OnDelete again', (s) => setBack(s).daemonSet(rolling).daemonSet(onDelete).del('a1'), []],
    [
      'restarts with another template, even before its release is published',
      (s) => setBack(setBack(s)).daemonSet({ template: 'template-3' }).del('a1'),
      [],
    ],
    [
      'is over after a retry',
      (s) =>
        setBack(setBack(s.rollout({})))
          .rollout(retry)
          .del('a1'),
      [],
    ],
    [
      'is over when the Rollout is disabled and enabled again, which begins another release',
      (s) =>
        setBack(setBack(s.rollout({})))
          .rollout({ spec: { disabled: true } })
          .rollout({ spec: { disabled: false } })
          .del('a1'),
      [],
    ],
    [
      'is not over when the Rollout is disabled',
      (s) =>
        setBack(setBack(s.rollout({})))
          .rollout({ spec: { disabled: true } })
          .del('a1'),
      ['G11 a'],
    ],
    [
      'does not exist if Tranche set the strategy itself',
      (s) => s.daemonSet(rolling, ours).daemonSet(onDelete, ours).daemonSet(rolling, ours).daemonSet(onDelete, ours).del('a1'),
      [],
    ],
  ])
})
