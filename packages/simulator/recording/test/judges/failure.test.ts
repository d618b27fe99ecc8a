import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const crashing = { ready: false, waiting: 'CrashLoopBackOff' }

/** The fleet under these terms; a1 has gone, and v2 crashes in its place; all programs have seen it. */
function crashed(terms: Fields = {}): Script {
  return fleet()
    .order({ spec: { tranche: { release: 'first', canaryRevision: 'v2', ...terms } } })
    .seen()
    .wait(2_000)
    .del('a1')
    .replace('a1', crashing)
    .seen()
    .wait(1)
}

/** Permits for a1 and b1, of which the first calls its node bad. */
function wasBad(s: Script): Script {
  const permits = ['a', 'b'].map((node) => ({ node, podUid: `${node}1`, podResourceVersion: '1', ...(node === 'a' && { wasBad: true }) }))
  return s.record({ permits: [] }).record({ permits })
}

describe('a version that fails', () => {
  judgeEach(
    'G9',
    [
      ['stops all deletions for it, although no status reports it', (s) => s.del('b1'), ['G9 b']],
      ['stops them for every process whose watch has reported it', (s) => s.wait(2_000).del('b1', { actor: 'executor-2' }), ['G9 b']],
      ['may have the pod on its own node replaced again', (s) => s.record({}, "a1'").del("a1'"), []],
      [
        'is ignored if a retry has accepted the node',
        (s) =>
          s
            .order({ spec: { tranche: { retry: 'again' } } })
            .seen()
            .wait(2_000)
            .del('b1'),
        [],
      ],
      [
        'is ignored if the status has accepted the node, even if it crashes again',
        (s) =>
          s
            .order({ spec: { tranche: { retry: 'again' } }, status: { failure: { accepted: ['a'] } } })
            .pod("a1'", { waiting: undefined })
            .pod("a1'", crashing)
            .seen()
            .wait(2_000)
            .del('b1'),
        [],
      ],
      [
        'is blamed again where the next version fails on a node whose failure was accepted for this one',
        (s) => {
          const accepted = s.order({ spec: { tranche: { retry: 'again' } }, status: { failure: { release: 'first', accepted: ['a'] } } })
          const next = accepted
            .order({ spec: { tranche: { release: 'second', canaryRevision: 'v3' } } })
            .record({ revision: 'v3' }, "a1 a1' b1")
          return next
            .del("a1'")
            .replace("a1'", { ...crashing, hash: 'v3' })
            .seen()
            .wait(1)
            .del('b1')
        },
        ['G9 b'],
      ],
      ...(['v2', 'v3'] as const).map((canaryRevision): [string, (s: Script) => Script, string[]] => [
        `is ${canaryRevision === 'v2' ? 'blamed' : 'forgotten'} in the next release of ${canaryRevision}`,
        (s) =>
          s
            .order({ spec: { tranche: { release: 'second', canaryRevision } } }, { uid: 'recreated' })
            .seen()
            .wait(1)
            .del('b1'),
        canaryRevision === 'v2' ? ['G9 b'] : [],
      ]),
      [
        'may be the stable version',
        (s) => s.annotate({ 'rollouts.kruise.io/daemonset-stable-revision': 'v2' }).seen().wait(1).del('b1'),
        [],
      ],
    ],
    { begin: crashed },
  )
  judgeEach('G9', [['may continue as long as the policy says so', (s) => s.del('b1'), []]], {
    begin: () => crashed({ failure: { action: 'Continue' } }),
  })
  judgeEach(
    'G9',
    [['may fail on as many nodes as tolerated', (s) => s.del('b1').replace('b1', crashing).seen().wait(1).del('c1'), ['G9 c']]],
    {
      begin: () => crashed({ failure: { maxFailedNodes: 1 } }),
    },
  )
  judgeEach('G9', [['may wait for ignored reasons', (s) => s.del('b1'), []]], {
    begin: () => crashed({ failure: { ignoreReasons: ['CrashLoopBackOff'] } }),
  })
  judgeEach('G9', [
    ['is unknown before a watch has reported it', (s) => s.del('a1').replace('a1', crashing).wait(500).del('b1'), []],
    [
      'is not blamed for a node that was unhealthy before',
      (s) => s.pod('a1', { ready: false }).record({}, 'a1 b1').del('a1').replace('a1', crashing).seen().wait(1).del('b1'),
      [],
    ],
    [
      'is blamed for a node that the record calls unhealthy before, although its pod was Ready as the process knew',
      (s) => wasBad(s.seen().wait(1)).del('a1').replace('a1', crashing).seen().wait(1).del('b1'),
      ['G9 b'],
    ],
    [
      'is not blamed for a node whose pod became Ready, which the process did not know when it wrote the permit',
      (s) =>
        wasBad(s.pod('a1', { ready: false }).seen().wait(1).pod('a1', { ready: true }))
          .seen()
          .wait(1)
          .del('a1')
          .replace('a1', crashing)
          .seen()
          .wait(1)
          .del('b1'),
      [],
    ],
    [
      'is not blamed for a node that was NotReady before',
      (s) => s.node('a', { ready: 'Unknown' }).del('a1').replace('a1', crashing).seen().wait(1).del('b1'),
      [],
    ],
    [
      'is not blamed for temporary states',
      (s) => s.del('a1').replace('a1', { ready: false, waiting: 'ContainerCreating' }).seen().wait(1).del('b1'),
      [],
    ],
  ])
})

/** We delete a1, and then its new pod, because v3 replaces v2 before that pod is Ready; the record calls the node bad. v3 crashes there. */
function replacedByNewer(s: Script, isDropped = false): Script {
  const updated = s.del('a1').replace('a1', { ready: false }).seen().wait(1)
  const [first, ...others] = ['a1', "a1'", 'b1'].map((podUid) => {
    return { node: podUid[0], podUid, podResourceVersion: '1', ...(podUid === "a1'" && { wasBad: true }) }
  })
  return updated
    .order({ spec: { tranche: { canaryRevision: 'v3' } } })
    .record({ revision: 'v3', permits: isDropped ? others : [first, ...others] })
    .del("a1'")
    .replace("a1'", { ...crashing, hash: 'v3' })
    .seen()
    .wait(1)
}

describe('a version that replaces one whose pod has not become Ready', () => {
  judgeEach('G9', [
    ['is blamed for a node that was healthy before that version', (s) => replacedByNewer(s.seen().wait(1)).del('b1'), ['G9 b']],
    [
      'is not blamed for a node that was unhealthy before that version',
      (s) => replacedByNewer(s.pod('a1', { ready: false }).record({}, 'a1 b1').seen().wait(1)).del('b1'),
      [],
    ],
    [
      'is not blamed for a node that is not Ready any more',
      (s) => replacedByNewer(s.node('a', { ready: 'False' }).seen().wait(1)).del('b1'),
      [],
    ],
    ['is not blamed where the record has lost the permit of that version', (s) => replacedByNewer(s.seen().wait(1), true).del('b1'), []],
    [
      'is not blamed for a node on which the stable version was not Ready either',
      (s) => {
        const stable = { 'rollouts.kruise.io/daemonset-stable-revision': 'v2' }
        return replacedByNewer(s.annotate(stable).seen().wait(1)).del('b1')
      },
      [],
    ],
  ])
})

describe('a version with which a node is lost', () => {
  const silent = (key: string): Fields => ({ ready: 'Unknown', taints: [{ key, effect: 'NoSchedule' }] })
  const away = silent('node.kubernetes.io/unreachable')
  /** The fleet under these terms; a1 has gone, and its kubelet has started the new pod. */
  const updated = (terms: Fields = {}, pod: Fields = {}): Script =>
    fleet()
      .order({ spec: { tranche: { release: 'first', canaryRevision: 'v2', ...terms } } })
      .seen()
      .wait(2_000)
      .del('a1')
      .replace('a1', pod)
  const then = (s: Script): Script => s.seen().wait(1).del('b1')
  judgeEach(
    'G9',
    [
      ['stops all deletions, though the node is not wanted then', (s) => then(s.node('a', away)), ['G9 b']],
      ['stops them where it is still wanted', (s) => then(s.node('a', { ready: 'Unknown' })), ['G9 b']],
      ['may be known to no watch', (s) => s.node('a', away).wait(500).del('b1'), []],
      [
        'may be known to the watch of nodes alone, while that of pods has not reported the start of the pod',
        (s) => s.node('a', away).seen('executor-1', ['nodes', 'daemonsets']).wait(1).del('b1'),
        [],
      ],
      [
        'stops them where the node is lost after a retry',
        (s) => then(s.order({ spec: { tranche: { retry: 'again' } } }).node('a', away)),
        ['G9 b'],
      ],
      [
        'stops them where the new pod had crashed before',
        (s) => then(s.pod("a1'", crashing).node('a', { ...silent('node.kubernetes.io/not-ready'), ready: 'False' })),
        ['G9 b'],
      ],
      ['may have it back', (s) => then(s.node('a', away).node('a')), []],
      ['may lose it by a deletion of the Node', (s) => then(s.node('a', away).removeNode('a')), []],
      ['may be off it by the taint of a user', (s) => then(s.node('a', silent('dedicated'))), []],
      ['may be off it because its pod was evicted', (s) => then(s.gone("a1'").node('a', away)), []],
      [
        'may continue after a retry',
        (s) =>
          s
            .node('a', away)
            .order({ spec: { tranche: { retry: 'again' } } })
            .seen()
            .wait(2_000)
            .del('b1'),
        [],
      ],
    ],
    { begin: updated },
  )
  const begins: readonly (readonly [name: string, begin: () => Script, found: readonly string[]])[] = [
    ['may continue where the policy ignores that', () => updated({ failure: { ignoreReasons: ['NodeNotReady'] } }), []],
    ['may not have been started there', () => updated({}, { ready: false, phase: 'Pending' }), []],
  ]
  for (const [name, begin, found] of begins) judgeEach('G9', [[name, (s) => then(s.node('a', away)), found]], { begin })
  judgeEach(
    'G9',
    [
      [
        'may lose as many nodes as a percentage of all allows, although fewer are wanted then',
        (s) => s.del('b1').replace('b1').node('a', away).node('b', away).seen().wait(1).del('c1'),
        [],
      ],
    ],
    { begin: () => updated({ failure: { maxFailedNodes: '26%' } }) },
  )
  judgeEach('G9', [
    [
      'may be started there only once the kubelet responds again',
      (s) => then(s.seen().del('a1').replace('a1', { ready: false, phase: 'Pending' }).node('a', away).pod("a1'", { phase: 'Running' })),
      [],
    ],
  ])
})

describe('a failure that the Rollout has reported', () => {
  const reportedAt = (at: string, reason = 'ReleaseFailed'): Fields => ({
    status: { conditions: [{ type: 'Stalled', status: 'True', reason }], failure: { stops: true, release: 'first', at } },
  })
  const reported = reportedAt('12:00')
  const quiet: Fields = { status: { conditions: [{ type: 'Stalled', status: 'False', reason: 'None' }], failure: { stops: false } } }
  const pause = (paused: boolean): Fields => ({ spec: { strategy: { paused } } })
  const annotated = (text: string | undefined): Fields => ({ metadata: { annotations: { 'tranche.dev/action': text } } })
  const action = (id: string, type = 'retry'): Fields => annotated(JSON.stringify({ id, type }))
  const refused = (id: string): Fields => ({ status: { lastAction: { id, type: 'retry', result: 'Refused' } } })
  const without = annotated(undefined)
  const inconclusive = reportedAt('12:05', 'AnalysisInconclusive')
  const failed = (): Script => fleet().rollout({}).rollout(reported, 'controller-1')
  const resumed = (s: Script): Script => s.order({ spec: { tranche: { failure: { autoResume: '1m' } } } })
  const overtaken = (s: Script): Script =>
    s
      .revision('v2', 'template-2')
      .rollout({ status: { ...(reportedAt('12:05')['status'] as Fields), canaryStatus: { canaryRevision: 'v2' } } }, 'controller-1')

  judgeEach(
    'G9',
    [
      ['stops everything', (s) => s.del('a1'), ['G9 a']],
      ['still stops it when the status no longer reports it by itself', (s) => s.rollout(quiet, 'controller-1').del('a1'), ['G9 a']],
      [
        'is not lifted by a retry that is refused',
        (s) => s.rollout(action('again')).rollout(refused('again'), 'controller-1').rollout(quiet, 'controller-1').del('a1'),
        ['G9 a'],
      ],
      [
        'is lifted by a retry that is accepted, whatever becomes of another action',
        (s) => s.rollout(action('again')).rollout(refused('next'), 'controller-1').rollout(quiet, 'controller-1').del('a1'),
        [],
      ],
      [
        'is lifted by a resume beside a retry that is refused',
        (s) =>
          s
            .rollout(pause(true))
            .rollout({ ...action('again'), ...pause(false) })
            .rollout(refused('again'), 'controller-1')
            .rollout(quiet, 'controller-1')
            .del('a1'),
        [],
      ],
      [
        'is lifted by a retry after one that was refused',
        (s) =>
          s.rollout(action('w1')).rollout(refused('w1'), 'controller-1').rollout(action('w2')).rollout(quiet, 'controller-1').del('a1'),
        [],
      ],
      ['is lifted by a retry', (s) => s.rollout(action('again')).rollout(quiet, 'controller-1').del('a1'), []],
      ['is lifted by an abort', (s) => s.rollout(action('back', 'abort')).rollout(quiet, 'controller-1').del('a1'), []],
      [
        'is not lifted by an approval by action, which is refused, although the pods have healed',
        (s) => s.rollout(action('next', 'approve')).rollout(quiet, 'controller-1').del('a1'),
        ['G9 a'],
      ],
      ['is not lifted by a promote', (s) => s.rollout(action('all', 'promote')).rollout(quiet, 'controller-1').del('a1'), ['G9 a']],
      [
        'is lifted by a promote if it is an analysis without result',
        (s) => s.rollout(inconclusive, 'controller-1').rollout(action('all', 'promote')).rollout(quiet, 'controller-1').del('a1'),
        [],
      ],
      [
        'is not lifted by an approval if it is an analysis without result',
        (s) => s.rollout(inconclusive, 'controller-1').rollout(action('next', 'approve')).rollout(quiet, 'controller-1').del('a1'),
        ['G9 a'],
      ],
      [
        'is lifted by a retry after another action',
        (s) => s.rollout(action('next', 'approve')).rollout(action('again')).rollout(quiet, 'controller-1').del('a1'),
        [],
      ],
      [
        'is not lifted by an action that replaces the retry of an earlier failure',
        (s) => s.rollout(action('again')).rollout(reportedAt('12:05'), 'controller-1').rollout(action('next', 'approve')).del('a1'),
        ['G9 a'],
      ],
      [
        'is not lifted when a user removes the retry of an earlier failure',
        (s) => s.rollout(action('again')).rollout(reportedAt('12:05'), 'controller-1').rollout(without).del('a1'),
        ['G9 a'],
      ],
      ['is lifted by a retry without an id', (s) => s.rollout(annotated('{"type":"retry"}')).rollout(quiet, 'controller-1').del('a1'), []],
      [
        'is not lifted by an action that is not JSON',
        (s) => s.rollout(annotated('retry')).rollout(quiet, 'controller-1').del('a1'),
        ['G9 a'],
      ],
      [
        'is lifted by a retry without an id that a user removes and writes again',
        (s) =>
          s
            .rollout(annotated('{"type":"retry"}'))
            .rollout(reportedAt('12:05'), 'controller-1')
            .rollout(without)
            .rollout(annotated('{"type":"retry"}'))
            .del('a1'),
        [],
      ],
      [
        'is lifted, although an earlier status still reports it',
        (s) => s.rollout(action('again')).rollout(reported, 'controller-1').rollout(quiet, 'controller-1').del('a1'),
        [],
      ],
      [
        'may be another one after the retry',
        (s) => s.rollout(action('again')).rollout(reportedAt('12:05'), 'controller-1').del('a1'),
        ['G9 a'],
      ],
      ['is lifted by a pause that was set since, and is removed', (s) => s.rollout(pause(true)).rollout(pause(false)).del('a1'), []],
      ['is not lifted by a pause that is set', (s) => s.rollout(pause(true)).rollout(quiet, 'controller-1').del('a1'), ['G9 a']],
      [
        'is not lifted by the end of an earlier pause',
        (s) => s.rollout(pause(true)).rollout(reportedAt('12:05'), 'controller-1').rollout(pause(false)).del('a1'),
        ['G9 a'],
      ],
      ['is lifted by another template', (s) => s.daemonSet({ template: 'template-3' }).del('a1'), []],
      ['is lifted by another template that preceded the report', (s) => overtaken(s.daemonSet({ template: 'template-3' })).del('a1'), []],
      ['is not lifted if the template is the failed one', (s) => overtaken(s).del('a1'), ['G9 a']],
      ['is not lifted by a write of Tranche to the DaemonSet', (s) => s.annotate({ 'tranche.dev/rollout': 'agent' }).del('a1'), ['G9 a']],
      [
        'is not lifted by an approval',
        (s) => s.rollout({ status: { canaryStatus: { currentStepState: 'StepReady' } } }).del('a1'),
        ['G9 a'],
      ],
      [
        'may be lifted by time if the policy says so',
        (s) =>
          s
            .order({ spec: { tranche: { failure: { autoResume: '1m' } } } })
            .rollout(quiet, 'controller-1')
            .del('a1'),
        [],
      ],
      [
        'may be lifted by time even before the status reports it',
        (s) =>
          resumed(s.record({ state: 'stopped' }).rollout(reportedAt('12:05'), 'controller-1'))
            .record({ epoch: 3, state: 'open' })
            .seen()
            .del('a1'),
        [],
      ],
      [
        'is not lifted by time while the record is stopped',
        (s) => resumed(s.record({ state: 'stopped' }).rollout(reportedAt('12:05'), 'controller-1')).del('a1'),
        ['G9 a'],
      ],
    ],
    { begin: failed },
  )
})

describe('a version that fails after its release has ended', () => {
  /** Node a was updated, and then the Rollout said that the release was over. */
  function ended(): Script {
    return fleet()
      .order({ spec: { tranche: { release: 'first', canaryRevision: 'v2' } } })
      .seen()
      .wait(2_000)
      .del('a1')
      .replace('a1')
      .rollout({ status: { phase: 'Healthy' } }, 'controller-1')
      .seen()
      .wait(1)
  }
  const crashes = (s: Script, uid: string): Script => s.pod(uid, crashing).seen().wait(1)
  judgeEach(
    'G9',
    [
      ['stops nothing for a node that the release had updated', (s) => crashes(s, "a1'").del('b1'), []],
      [
        'stops all deletions for a node that was in flight when the status said that the release was over',
        (s) => {
          s.rollout({ status: { phase: 'Progressing' } }, 'controller-1')
            .seen()
            .wait(1)
            .del('b1')
          return crashes(s.rollout({ status: { phase: 'Healthy' } }, 'controller-1').replace('b1'), "b1'").del('c1')
        },
        ['G9 c'],
      ],
      ['stops all deletions for a node that it had left', (s) => crashes(s.del('b1').replace('b1'), "b1'").del('c1'), ['G9 c']],
      [
        'stops them although the status says again that the release has ended',
        (s) =>
          crashes(
            s
              .del('b1')
              .replace('b1')
              .rollout({ status: { phase: 'Healthy', message: 'again' } }, 'controller-1'),
            "b1'",
          ).del('c1'),
        ['G9 c'],
      ],
    ],
    { begin: ended },
  )
})
