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
  const policy = (failure: object): Fields => ({ metadata: { name: 'agent' }, spec: { tranche: { failure } } })
  const revert = policy({ onReapply: 'Revert' })
  const failed = (s: Script): Script => s.rollout({ status: { heldRevisions: [{ revision: 'v2', digest: 'd2', reason: 'Failed' }] } }, ours)
  const again = (s: Script, ms: number): Script => s.daemonSet({ template: 'template-2' }).wait(ms).daemonSet(putBack, ours)
  const begin = (): Script => fleet({ template: 'template-1' }).daemonSet({ template: 'template-2' }).rollout({})
  judgeEach(
    'G11',
    [
      ['is restored by an abort', (s) => s.rollout(abort).daemonSet(putBack, ours), []],
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
        (s) => failed(s.order(policy({ action: 'Rollback' }))).daemonSet(putBack, ours),
        [],
      ],
      [
        'is not restored by a verdict if no policy says so',
        (s) => failed(s.order(policy({ action: 'Pause' }))).daemonSet(putBack, ours),
        ['G11'],
      ],
      ['is restored once for one abort', (s) => again(s.rollout(abort).daemonSet(putBack, ours), 20_000), ['G11']],
      ['is restored again for another abort', (s) => again(s.rollout(abort).daemonSet(putBack, ours).rollout(abortAgain), 20), []],
      [
        'is restored again after a retry',
        (s) => again(s.rollout(abort).daemonSet(putBack, ours).rollout(retry).rollout(abortAgain), 20),
        [],
      ],
      ['is restored again if the policy says Revert', (s) => again(s.order(revert).rollout(abort).daemonSet(putBack, ours), 20_000), []],
      [
        'is restored again as soon as clocks with whole seconds allow',
        (s) => again(s.order(revert).rollout(abort).daemonSet(putBack, ours), 8_500),
        [],
      ],
      [
        'is restored again no sooner than after 10 s',
        (s) => again(s.order(revert).rollout(abort).daemonSet(putBack, ours), 5_000),
        ['G11'],
      ],
      ['never becomes one that it was not before', (s) => s.rollout(abort).daemonSet({ template: 'template-7' }, ours), ['G11']],
    ],
    { begin },
  )
  judgeEach(
    'G11',
    [['is restored again sooner if the clock was set', (s) => again(s.order(revert).rollout(abort).daemonSet(putBack, ours), 5_000), []]],
    { begin, query: () => ({ clockSteps: [{ atMs: 0, ms: -6_000 }] }) },
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
