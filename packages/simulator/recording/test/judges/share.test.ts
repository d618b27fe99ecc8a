import { describe } from 'vitest'
import { type Fields, fleet, judgeEach, type Script } from '../script.ts'

const wait = { replicas: 1, pause: {} }
const half = { replicas: '50%', pause: {} }

/** A Rollout with these steps, and a new template; the record allows every node. */
function released(
  steps: readonly Fields[],
  { generation = 1, begin = fleet }: { readonly generation?: number; readonly begin?: () => Script } = {},
): Script {
  return begin()
    .rollout({ spec: { strategy: { canary: { steps } } } })
    .revision('v3', 'template-3')
    .daemonSet({ template: 'template-3', generation })
    .record({ revision: 'v3', partition: 0, limit: 4 })
    .seen()
    .wait(1)
}

function approve(id: string, members: Fields = {}): Fields {
  return { metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id, type: 'approve', ...members }) } } }
}

function jump(step: number): Fields {
  return approve('w1', { type: 'jump', step })
}

/** Our status answers the action. */
function answered(script: Script, result: string): Script {
  return script.rollout({ status: { lastAction: { id: 'w1', result } } }, 'controller-1')
}

function deletes(script: Script, ...uids: readonly string[]): Script {
  for (const uid of uids) script.del(uid).replace(uid, { hash: 'v3' })
  return script
}

const ready = { status: { canaryStatus: { currentStepState: 'StepReady' } } }

/** Our status says that the step is in this state, and then another actor writes. */
function at(script: Script, currentStepIndex: number, currentStepState: string): Script {
  return script.rollout({ status: { canaryStatus: { currentStepIndex, currentStepState } } }, 'controller-1')
}

/** A user deletes the Rollout, and its finalizer keeps it. */
function goes(script: Script, onDelete?: string): Script {
  const annotations = onDelete === undefined ? {} : { 'tranche.dev/on-delete': onDelete }
  return script.rollout({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', annotations } })
}

/** Another template comes, and the record lets every node be taken. */
function takesAllOfAnother(script: Script): Script {
  const other = script.revision('v4', 'template-4').daemonSet({ template: 'template-4' })
  other.record({ revision: 'v4', partition: 0, limit: 4 }).seen().wait(1)
  for (const uid of ['a1', 'b1', 'c1']) other.del(uid).replace(uid, { hash: 'v4' })
  return other
}

function backToTheFirst(script: Script, uids = ['a1', 'b1', 'c1']): Script {
  const back = script.revision('v2', 'template-2').daemonSet({ template: 'template-2' }).record({ revision: 'v2', partition: 0, limit: 4 })
  for (const uid of uids) back.seen().wait(1).del(uid).replace(uid, { hash: 'v2' })
  return back
}

/** The DaemonSet is deleted and created again with the template that is released, and its generations begin again. */
function recreated(script: Script): Script {
  const { o } = script.recording().writes.findLast(({ kind }) => kind === 'DaemonSet')!
  return script.daemonSet({}, 'user', { type: 'DELETED', verb: 'delete' }).daemonSet({ ...o, generation: 1, observed: 1 })
}

function completed(script: Script): Script {
  for (const uid of ['a1', 'b1', 'c1', 'd1']) script.replace(uid, { hash: 'v3' })
  return script.rollout({ status: { phase: 'Healthy' } }, 'controller-1')
}

describe('the fraction that users and pauses have opened', () => {
  judgeEach(
    'G3',
    [
      [
        'is everything during a rollback to the previous version, if the DaemonSet was recreated in between',
        (s) => backToTheFirst(recreated(s)),
        [],
      ],
    ],
    { begin: () => released([wait], { generation: 2 }) },
  )
  judgeEach(
    'G3',
    [
      ['is the first step, whatever the record says', (s) => deletes(s, 'a1', 'b1'), ['G3 b']],
      ['is the next step with an approval by action', (s) => deletes(s.rollout(approve('w1')), 'a1', 'b1', 'c1'), ['G3 c']],
      [
        'is everything for a template that comes while the Rollout is deleted with on-delete Complete',
        (s) => takesAllOfAnother(goes(s, 'Complete')),
        [],
      ],
      [
        'is at most the first step for a template that comes while the Rollout is deleted without on-delete',
        (s) => takesAllOfAnother(goes(s)),
        ['G3 b', 'G3 c'],
      ],
      [
        'is the next step with an approval by status',
        (s) => deletes(at(deletes(s, 'a1'), 1, 'StepPaused').rollout(ready), 'b1', 'c1'),
        ['G3 c'],
      ],
      [
        'is not the next step with an approval in the status if the step did not wait',
        (s) => deletes(at(deletes(s, 'a1'), 1, 'StepUpgrade').rollout(ready), 'b1'),
        ['G3 b'],
      ],
      [
        'is not the next step with an action for another step',
        (s) => deletes(at(deletes(s, 'a1'), 1, 'StepPaused').rollout(approve('w1', { expectedStep: 2 })), 'b1'),
        ['G3 b'],
      ],
      [
        'is not the next step with an action that came too early and was refused',
        (s) =>
          deletes(
            at(deletes(at(s, 1, 'StepUpgrade').rollout(approve('w1', { expectedStep: 1 })), 'a1'), 1, 'StepUpgrade')
              .rollout({ status: { lastAction: { id: 'w1', result: 'Refused' } } }, 'controller-1')
              .rollout({ status: { canaryStatus: { currentStepIndex: 1, currentStepState: 'StepPaused' } } }, 'controller-1'),
            'b1',
          ),
        ['G3 b'],
      ],
      [
        'is the next step with an action that is answered when the step waits',
        (s) => deletes(at(deletes(at(s, 1, 'StepUpgrade').rollout(approve('w1', { expectedStep: 1 })), 'a1'), 1, 'StepPaused'), 'b1', 'c1'),
        ['G3 c'],
      ],
      [
        'is not the next step before the pods of the step are available',
        (s) => s.rollout(approve('w1')).del('a1').replace('a1', { hash: 'v3', ready: false }).del('b1'),
        ['G3 b'],
      ],
      [
        'is not the next step because the status of Tranche says so',
        (s) => deletes(s.rollout(ready, 'controller-1'), 'a1', 'b1'),
        ['G3 b'],
      ],
      [
        'counts an action once that is written twice',
        (s) => deletes(s.rollout(approve('w1')).rollout(approve('w1')), 'a1', 'b1', 'c1'),
        ['G3 c'],
      ],
      ['is not a step of a jump that does not exist', (s) => deletes(s.rollout(jump(3)), 'a1', 'b1'), ['G3 b']],
      [
        'is not the step of a jump in the status that does not exist',
        (s) => deletes(s.rollout({ status: { canaryStatus: { nextStepIndex: 3 } } }), 'a1', 'b1'),
        ['G3 b'],
      ],
      ['is not the step of a jump that was refused', (s) => deletes(answered(s.rollout(jump(2)), 'Refused'), 'a1', 'b1'), ['G3 b']],
      [
        'is the step of a jump that was accepted, and is refused when its answer was lost',
        (s) => deletes(answered(answered(s.rollout(jump(2)), 'Accepted'), 'Refused'), 'a1', 'b1'),
        [],
      ],
      [
        'is the next step with an approval that comes between a jump and its refusal',
        (s) => deletes(answered(at(deletes(s, 'a1').rollout(jump(2)), 1, 'StepPaused').rollout(ready), 'Refused'), 'b1', 'c1'),
        ['G3 c'],
      ],
      ['is the step of a jump', (s) => deletes(s.rollout(approve('w1', { type: 'jump', step: 2 })), 'a1', 'b1', 'c1'), ['G3 c']],
      ['is everything with promote', (s) => deletes(s.rollout(approve('w1', { type: 'promote' })), 'a1', 'b1', 'c1', 'd1'), []],
      [
        'is everything after the last step',
        (s) => deletes(deletes(s.rollout(approve('w1')), 'a1', 'b1').rollout(approve('w2')), 'c1', 'd1'),
        [],
      ],
      ['does not count leaked nodes', (s) => deletes(s.gone('d1').pod('d2', { hash: 'v3' }).seen().wait(1), 'a1'), []],
      [
        'does not grow with nodes that return with old pods',
        (s) => deletes(s.node('e').node('f').pod('e1').pod('f1').record({}, 'a1 b1 e1').seen().wait(1), 'a1', 'e1'),
        ['G3 e'],
      ],
      [
        'is the first step for a template that was there before, too',
        (s) =>
          s
            .revision('v4', 'template-4')
            .daemonSet({ template: 'template-4' })
            .daemonSet({ template: 'template-3' })
            .daemonSet({ template: 'template-4' })
            .record({ revision: 'v4' })
            .del('a1')
            .replace('a1', { hash: 'v4' })
            .del('b1'),
        ['G3 b'],
      ],
      [
        'is unchanged if another template was replaced by it before the DaemonSet controller had observed it',
        (s) =>
          deletes(
            s
              .rollout(approve('w1'))
              .daemonSet({ generation: 2, template: 'template-4' })
              .daemonSet({ generation: 3, template: 'template-3' })
              .daemonSet({ observed: 3 }, 'daemonset-controller'),
            'a1',
            'b1',
          ),
        [],
      ],
      [
        'is the first step again if the controller had observed it',
        (s) =>
          deletes(
            s
              .rollout(approve('w1'))
              .daemonSet({ generation: 2, template: 'template-4' })
              .daemonSet({ observed: 2 }, 'daemonset-controller')
              .daemonSet({ generation: 3, template: 'template-3' })
              .daemonSet({ observed: 3 }, 'daemonset-controller'),
            'a1',
            'b1',
          ),
        ['G3 b'],
      ],
      ['is everything during a rollback to the template with which the DaemonSet was created', (s) => backToTheFirst(s), []],
      [
        'is everything during a rollback to that template after another was complete while no node was wanted',
        (s) => {
          const names = ['a', 'b', 'c', 'd']
          for (const name of names) s.node(name, { taints: [{ key: 'gpu', effect: 'NoSchedule' }] })
          s.rollout({ status: { phase: 'Healthy' } }, 'controller-1')
          for (const name of names) s.node(name)
          return backToTheFirst(s)
        },
        [],
      ],
      [
        'is the first step for a rollback to that template after another was released',
        (s) => backToTheFirst(completed(s), ["a1'", "b1'", "c1'"]),
        ['G3 b', 'G3 c'],
      ],
      [
        'is everything during a rollback to a template that every node ran',
        (s) =>
          deletes(
            s
              .rollout({ status: { phase: 'Healthy' } }, 'controller-1')
              .daemonSet({ template: 'template-4' })
              .daemonSet({ template: 'template-3' }),
            'a1',
            'b1',
            'c1',
          ),
        ['G3 b', 'G3 c'],
      ],
      [
        'is unchanged in a plan that replaces the first',
        (s) => deletes(s.rollout({ spec: { strategy: { canary: { steps: [wait, wait, half] } } } }), 'a1', 'b1'),
        ['G3 b'],
      ],
    ],
    { begin: () => released([wait, half]) },
  )
  judgeEach(
    'G3',
    [
      ['is the next step when its time has passed', (s) => deletes(deletes(s, 'a1').wait(60_000), 'b1', 'c1'), ['G3 c']],
      ['is not the next step before', (s) => deletes(deletes(s, 'a1').wait(57_000), 'b1'), ['G3 b']],
      ['is not the next step if the time passed before its pods were available', (s) => deletes(s.wait(60_000), 'a1', 'b1'), ['G3 b']],
    ],
    { begin: () => released([{ replicas: 1, pause: { duration: 60 } }, half]) },
  )
  /** The step was ready for 40 s when another client evicts its pod; then its user changes the steps. */
  const becomesAfterEviction = (s: Script, ...steps: readonly Fields[]): Script =>
    deletes(s, 'a1')
      .wait(40_000)
      .gone("a1'")
      .pod('a2', { hash: 'v3' })
      .rollout({ spec: { strategy: { canary: { steps } } } })
  judgeEach(
    'G3',
    [
      [
        'is the next step when a shorter pause is over since the step was first ready, although a pod was evicted meanwhile',
        (s) => deletes(becomesAfterEviction(s, { replicas: 1, pause: { duration: 30 } }, half), 'b1', 'c1'),
        ['G3 c'],
      ],
      [
        'is not the next step before the pods of a larger step were available for its pause',
        (s) => deletes(becomesAfterEviction(s, { replicas: 2, pause: { duration: 30 } }, { replicas: 3 }), 'b1', 'c1'),
        ['G3 c'],
      ],
    ],
    { begin: () => released([{ replicas: 1, pause: { duration: 60 } }, half]) },
  )
  judgeEach(
    'G3',
    [
      ['is not the next step without an approval', (s) => deletes(s, 'a1', 'b1'), ['G3 b']],
      ['is the next step with an approval', (s) => deletes(s.rollout(approve('w1')), 'a1', 'b1'), []],
    ],
    { begin: () => released([{ replicas: 1 }, { replicas: 2 }]) },
  )
  judgeEach(
    'G3',
    [
      [
        'is everything after a last step of all nodes, which has no pause',
        (s) => deletes(deletes(s, 'a1', 'b1', 'c1', 'd1').node('e').pod('e1').seen().wait(1), 'e1'),
        [],
      ],
    ],
    { begin: () => released([{ replicas: '100%' }]) },
  )
  judgeEach(
    'G3',
    [
      ['may be the next step early by as much as the server’s clock was set', (s) => deletes(deletes(s, 'a1').wait(31_000), 'b1'), []],
      ['may not be the next step earlier than that', (s) => deletes(deletes(s, 'a1').wait(27_000), 'b1'), ['G3 b']],
    ],
    {
      begin: () => released([{ replicas: 1, pause: { duration: 60 } }, half]),
      query: (s) => ({ clockSteps: [{ atMs: s.nowMs - 20_000, ms: -30_000 }] }),
    },
  )
  judgeEach(
    'G3',
    [['is not the next step early where that clock was set long before', (s) => deletes(deletes(s, 'a1').wait(31_000), 'b1'), ['G3 b']]],
    { begin: () => released([{ replicas: 1, pause: { duration: 60 } }, half]), query: () => ({ clockSteps: [{ atMs: 0, ms: -30_000 }] }) },
  )
  /** Tranche moves every node to v3, then all but d to v4, and begins the release of v3 again. */
  const again = (s: Script, isBack: boolean): Script => {
    const names = ['a', 'b', 'c']
    const healthy = (revision: string): Script =>
      s.rollout({ status: { phase: 'Healthy', canaryStatus: { canaryRevision: revision } } }, 'controller-1')
    deletes(s.rollout(approve('w1', { type: 'promote' })), 'a1', 'b1', 'c1', 'd1')
    healthy('v3')
      .node('d', { ready: 'Unknown' })
      .pod("d1'", { ready: false })
      .revision('v4', 'template-4')
      .daemonSet({ template: 'template-4' })
    for (const name of names) s.gone(`${name}1'`).pod(`${name}4`, { hash: 'v4' })
    healthy('v4')
    if (isBack) s.node('d').pod("d1'", { ready: true })
    s.daemonSet({ template: 'template-3' }).annotate({ 'rollouts.kruise.io/daemonset-stable-revision': 'v4' })
    return s.record({ revision: 'v3' }, 'a4 b4 c4').seen().wait(2_000).del('a4')
  }
  judgeEach(
    'G3',
    [
      ['does not count a dead node that an earlier release moved', (s) => again(s, false), []],
      ['counts one that is back', (s) => again(s, true), ['G3 a']],
    ],
    { begin: () => released([wait, half]) },
  )
  /** Every node runs v3 and falls silent as its release is reported complete; later v4 goes to three of them, and v3 comes back. */
  const outAtTheEnd = (s: Script, isSeen: boolean): Script => {
    const names = ['a', 'b', 'c', 'd']
    deletes(s.rollout(approve('w1', { type: 'promote' })), 'a1', 'b1', 'c1', 'd1')
      .seen('controller-1', ['nodes'])
      .wait(5_000)
    for (const name of names) s.node(name, { ready: 'Unknown' })
    if (isSeen) s.seen('controller-1', ['nodes']).wait(5_000)
    s.rollout({ status: { phase: 'Healthy', canaryStatus: { canaryRevision: 'v3' } } }, 'controller-1')
    for (const name of names) s.node(name)
    s.revision('v4', 'template-4').daemonSet({ template: 'template-4' }).record({ revision: 'v4', partition: 0, limit: 4 })
    for (const name of ['a', 'b', 'c']) s.gone(`${name}1'`).pod(`${name}4`, { hash: 'v4' })
    s.daemonSet({ template: 'template-3' }).record({ revision: 'v3', partition: 0, limit: 4 }, 'a4 b4 c4').seen().wait(1)
    return deletes(s, 'a4', 'b4', 'c4')
  }
  judgeEach(
    'G3',
    [
      [
        'is everything for a template that was complete before the writer could know that every node is out',
        (s) => outAtTheEnd(s, false),
        [],
      ],
      ['is not if the writer knew it', (s) => outAtTheEnd(s, true), ['G3 a', 'G3 b', 'G3 c']],
    ],
    { begin: () => released([wait, half]) },
  )
  const isBackUnseen = (): Script =>
    fleet().node('b', { ready: 'False' }).wait(5_000).seen('controller-1', ['nodes']).wait(5_000).node('b').wait(5_000)
  const isBackSeen = (): Script => isBackUnseen().seen('controller-1', ['nodes']).wait(5_000)
  const twoOfFour = [
    { replicas: 2, pause: { duration: 60 } },
    { replicas: 3, pause: {} },
  ]
  const afterOne = (s: Script): Script => deletes(at(deletes(s, 'a1'), 1, 'StepPaused').wait(60_000), 'b1', 'c1')
  judgeEach('G3', [['is the next step after one node where no watch of the controller has reported that another is Ready', afterOne, []]], {
    begin: () => released(twoOfFour, { begin: isBackUnseen }),
  })
  judgeEach('G3', [['is not the next step after one node where its watch has reported that', afterOne, ['G3 c']]], {
    begin: () => released(twoOfFour, { begin: isBackSeen }),
  })
  const watched = (s: Script): Script => s.seen('controller-1', ['pods', 'nodes', 'daemonsets'])
  /** Another client deletes b1, so that two nodes are updated before the second step opens; then the pod of one of them fails. */
  const failsBefore = (s: Script): Script =>
    watched(deletes(s, 'a1').gone('b1').pod("b1'", { hash: 'v3' }))
      .wait(55_000)
      .pod("b1'", { ready: false })
  judgeEach(
    'G3',
    [
      [
        'is the next step after a pod of the step has failed, which no watch of the controller has reported',
        (s) => at(failsBefore(s).wait(5_000), 2, 'StepUpgrade').del('c1').del('d1'),
        [],
      ],
      [
        'is not the next step after a pod of the step has failed, which its watch has reported',
        (s) =>
          at(watched(failsBefore(s)).wait(5_000), 2, 'StepUpgrade')
            .del('c1')
            .del('d1'),
        ['G3 d'],
      ],
    ],
    { begin: () => released([{ replicas: 1, pause: { duration: 60 } }, { replicas: 2, pause: { duration: 0 } }, { replicas: 3 }]) },
  )
  const oneFails = (script: Script): Script => deletes(script, 'a1').del('b1').replace('b1', { hash: 'v3', ready: false })
  const paused = (value: boolean): Fields => ({ spec: { strategy: { paused: value } } })
  judgeEach(
    'G3',
    [
      ['is not the next step while a pod of the step is unavailable', (s) => oneFails(s).del('c1'), ['G3 c']],
      [
        'is the next step with a retry, although a pod of the step is unavailable',
        (s) => deletes(oneFails(s).rollout(retry), 'c1', 'd1'),
        ['G3 d'],
      ],
      [
        'is not the next step with a retry that Tranche writes',
        (s) => watched(oneFails(s)).wait(5_000).rollout(retry, 'controller-1').del('c1'),
        ['G3 c'],
      ],
      ['is not the next step with a retry if no pod of the step is available', (s) => failing(s).rollout(retry).del('c1'), ['G3 c']],
      [
        'is the next step when a pause is lifted',
        (s) => deletes(oneFails(s).rollout(paused(true)).rollout(paused(false)), 'c1', 'd1'),
        ['G3 d'],
      ],
      ['is not the next step with the pause itself', (s) => oneFails(s).rollout(paused(true)).del('c1'), ['G3 c']],
    ],
    { begin: () => released([{ replicas: 2, pause: { duration: 0 } }, { replicas: 3, pause: {} }, half]) },
  )
})

/** Nodes a and b are the pool `canary`, c and d the pool `rest`. */
function pools(): Script {
  const script = fleet()
  for (const [name, pool] of Object.entries({ a: 'canary', b: 'canary', c: 'rest', d: 'rest' }))
    script.node(name, { labels: { pool, name } })
  return script.seen().wait(1)
}

const ofPool = (pool: string, replicas?: number | string): Fields => ({ nodes: { matchLabels: { pool } }, replicas, pause: {} })
const ofNode = (name: string): Fields => ({ nodes: { matchLabels: { name } }, pause: {} })
/** Other definitions prune the selectors in a write of our status. */
const pruned = (script: Script): Script =>
  script.rollout(
    {
      spec: { strategy: { canary: { steps: [{ pause: {}, replicas: '100%' }, { pause: {}, replicas: '100%' }, all] } } },
    },
    'controller-1',
  )
/** The annotation that says so goes away. */
const forgotten = (script: Script, actor?: string): Script =>
  script.rollout({ metadata: { annotations: { 'tranche.dev/step-nodes': undefined } } }, actor)
const withPause = (script: Script): Script =>
  script.rollout({ metadata: { generation: 2, annotations: { 'tranche.dev/step-nodes': '{}' } }, spec: { strategy: { paused: true } } })
/** Nodes a and b are updated: the step of a is approved, and that of b is open. */
const twoOpen = (script: Script): Script => deletes(deletes(script, 'a1').rollout(approve('w1')), 'b1')
/** Two of three nodes are updated, and the steps become others for nodes c and d. */
const inTwo = (script: Script): Script => {
  const both = { matchExpressions: [{ key: 'name', operator: 'In', values: ['c', 'd'] }] }
  const approved = twoOpen(script)
  return become(approved, { nodes: both, replicas: 1, pause: {} }, { nodes: both, pause: {} }, all)
}
const excluding = (script: Script, name: string): Script =>
  script
    .order({ spec: { tranche: { nodes: { exclude: [{ matchLabels: { name } }] } } } })
    .seen()
    .wait(1)
/** The controller has seen everything, and writes its status. */
const known = (script: Script): Script =>
  script
    .seen('controller-1', ['rollouts'])
    .wait(1)
    .rollout({ status: { message: 'x' } }, 'controller-1')
    .wait(1)
const become = (script: Script, ...steps: readonly Fields[]): Script => script.rollout({ spec: { strategy: { canary: { steps } } } })
const all = { replicas: '100%' }

describe('the nodes that steps with selectors have opened', () => {
  judgeEach(
    'G3',
    [
      ['are those of the first step, however many the record allows', (s) => deletes(s, 'a1', 'c1'), ['G3 c']],
      ['are as many of them as its percentage of them', (s) => deletes(s, 'a1', 'b1'), ['G3 b']],
      [
        'are those of the next step as well with an approval',
        (s) => deletes(deletes(s, 'a1').rollout(approve('w1')), 'b1', 'c1'),
        ['G3 c'],
      ],
      [
        'are those of the present step if it has the same, though the first of the new steps selects none',
        (s) => {
          const open = twoOpen(s).rollout(approve('w2'))
          return deletes(
            become(deletes(open, 'c1'), { ...wait, replicas: 3 }, { ...wait, replicas: 3 }, ofPool('rest', 3), all).rollout(approve('w3')),
            'd1',
          )
        },
        [],
      ],
      [
        'are none of a pool that replaces the first',
        (s) => deletes(become(deletes(s, 'a1'), ofPool('rest', '50%'), all), 'c1', 'd1', 'b1'),
        ['G3 d', 'G3 b'],
      ],
    ],
    { begin: () => released([ofPool('canary', '50%'), ofPool('canary'), ofPool('rest', 3), all], { begin: pools }) },
  )
  judgeEach(
    'G3',
    [
      [
        'are those of the present step if the steps selected none before, and other nodes are updated',
        (s) => deletes(become(deletes(s, 'a1', 'c1'), ofPool('rest', 1), ofPool('rest'), all), 'd1'),
        ['G3 d'],
      ],
      [
        'are no more than before if the present step has more, and an earlier one has as many',
        (s) =>
          deletes(
            become(deletes(deletes(s, 'a1', 'c1').rollout(approve('w1')), 'b1'), { ...half, replicas: 3 }, { ...half, replicas: 4 }, all),
            'd1',
          ),
        ['G3 d'],
      ],
    ],
    { begin: () => released([half, { replicas: 3, pause: {} }, all], { begin: pools }) },
  )
  judgeEach(
    'G3',
    [
      [
        'are those of one step only if it selects another pool after an approval of the pool before',
        (s) => deletes(become(deletes(s, 'a1').rollout(approve('w1')), ofPool('rest', 1), all), 'c1', 'd1'),
        ['G3 d'],
      ],
      [
        'are those of a later step if all nodes of the steps before are updated by other clients',
        (s) => deletes(updatedNatively(s, 'b1'), 'a1', 'c1'),
        ['G3 c'],
      ],
    ],
    { begin: () => released([ofPool('canary'), ofPool('rest'), all], { begin: pools }) },
  )
  judgeEach(
    'G3',
    [
      [
        'are those of the step at which the controller continues: executors may have updated nodes of the new first one before it knew',
        (s) => deletes(known(deletes(inTwo(s), 'c1')), 'd1'),
        [],
      ],
      [
        'are no more if the present step has fewer, and a later one has all',
        (s) => deletes(become(deletes(s, 'a1').rollout(approve('w1')), wait, half, all), 'b1', 'c1', 'd1'),
        ['G3 d'],
      ],
      [
        'are those of the first step only if the controller knew of the change before',
        (s) => deletes(known(inTwo(s)), 'c1', 'd1'),
        ['G3 d'],
      ],
    ],
    { begin: () => released([{ replicas: 1, pause: {} }, { replicas: 3, pause: {} }, all], { begin: pools }) },
  )
  judgeEach(
    'G3',
    [
      [
        'are those of the first of changed steps that has nodes to update, not of the present one',
        (s) => deletes(become(twoOpen(s), ofNode('c'), ofNode('d'), all), 'c1', 'd1'),
        ['G3 d'],
      ],
      [
        'are those of the present step if the ones before were passed',
        (s) => deletes(become(twoOpen(s), ofNode('a'), ofNode('d'), all), 'c1', 'd1'),
        ['G3 c'],
      ],
      [
        'are those of a step that was open, and not passed, if it is the first one now',
        (s) => deletes(become(twoOpen(s), ofNode('b'), ofNode('d'), all), 'c1', 'd1'),
        ['G3 c', 'G3 d'],
      ],
      [
        'are the same if other definitions prune the selectors, until a user writes other steps',
        (s) => deletes(become(pruned(deletes(s, 'a1')), ofNode('a'), ofNode('d'), all), 'b1'),
        ['G3 b'],
      ],
      [
        'are those of all nodes once a user removes the annotation that says that they were pruned',
        (s) => deletes(forgotten(withPause(pruned(deletes(s, 'a1')))), 'b1', 'c1'),
        [],
      ],
      [
        'are the same if Tranche removes it',
        (s) => deletes(forgotten(withPause(pruned(deletes(s, 'a1'))), 'controller-1'), 'b1'),
        ['G3 b'],
      ],
      [
        'are the same if a user writes a pause after other definitions have pruned the selectors',
        (s) => deletes(withPause(pruned(deletes(s, 'a1'))), 'b1'),
        ['G3 b'],
      ],
      [
        'are those of the second of changed steps if the policy excludes all of the first',
        (s) => deletes(become(excluding(twoOpen(s), 'c'), ofNode('c'), ofNode('d'), all), 'd1'),
        [],
      ],
      [
        'are those of the first of changed steps if the policy excludes another node',
        (s) => deletes(become(excluding(twoOpen(s), 'z'), ofNode('c'), ofNode('d'), all), 'd1'),
        ['G3 d'],
      ],
      [
        'are none while an empty step comes instead of the present one',
        (s) => deletes(become(twoOpen(s), ofNode('a'), ofNode('z'), ofNode('d'), all), 'd1'),
        ['G3 d'],
      ],
      [
        'are as many as the first step has that is larger than those before, if the steps select none any more',
        (s) => deletes(become(twoOpen(s), half, { replicas: 3, pause: {} }, all), 'c1'),
        ['G3 c'],
      ],
      [
        'are those of the next step when only a tolerated node fails, and one of another step is available',
        (s) => {
          const lenient = s
            .order({ spec: { tranche: { failure: { maxFailedNodes: 1 } } } })
            .seen()
            .wait(1)
          return deletes(updatedNatively(lenient, 'd1').del('a1').replace('a1', { hash: 'v3', ready: false }).rollout(approve('w1')), 'b1')
        },
        [],
      ],
      ['are of no step if a user removes all of them', (s) => deletes(become(deletes(s, 'a1')), 'b1', 'c1', 'd1'), []],
    ],
    { begin: () => released([ofNode('a'), ofNode('b'), all], { begin: pools }) },
  )
})

const retry: Fields = { metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'w1', type: 'retry' }) } } }

function failing(script: Script): Script {
  for (const uid of ['a1', 'b1']) script.del(uid).replace(uid, { hash: 'v3', ready: false })
  return script
}

/** A hand-written BatchRelease, of a DaemonSet without a Rollout. */
function byHand(): Script {
  const releasePlan = { batches: [{ canaryReplicas: 1 }, { canaryReplicas: '50%' }, { canaryReplicas: '100%' }], batchPartition: 0 }
  return fleet().order({ spec: { releasePlan } }, { actor: 'user' }).record({ partition: 0, limit: 4 }).seen().wait(1)
}

/** Changes its plan. */
function plan(script: Script, fields: Fields, actor = 'user'): Script {
  return script.order({ spec: { releasePlan: fields } }, { actor })
}

/** All of them go, and come back on the revision. */
function taken(script: Script, ...uids: readonly string[]): Script {
  for (const uid of uids) script.del(uid).replace(uid)
  return script
}

/** A user deletes the Rollout, the native controller updates these nodes, and the user creates the Rollout again. */
function createdAgain(script: Script, ...updated: readonly string[]): Script {
  const without = updatedNatively(script.rollout({}, 'user', { type: 'DELETED', verb: 'delete' }), ...updated)
  return without.rollout({ spec: { strategy: { canary: { steps: [wait, half] } } } })
}

function enabledAgain(script: Script, ...updated: readonly string[]): Script {
  return reported(updatedNatively(script.rollout({ spec: { disabled: true } }), ...updated).rollout({ spec: { disabled: false } }))
}

function updatedNatively(script: Script, ...uids: readonly string[]): Script {
  for (const uid of uids) script.gone(uid, 'daemonset-controller').pod(`${uid}'`, { hash: 'v3' })
  return script.seen().wait(1)
}

function withNodes(script: Script): Script {
  return script.node('e').node('f').pod('e1').pod('f1').record({}, 'a1 b1 c1 d1 e1 f1').seen().wait(1)
}

/** The status of the Rollout first reports a release. */
function reported(script: Script): Script {
  return at(script, 1, 'BeforeStepUpgrade').seen().wait(1)
}

describe('the template that most nodes run when a Rollout is created', () => {
  judgeEach(
    'G3',
    [
      ['is stable, and no step limits it', (s) => deletes(reported(createdAgain(s, 'c1', 'd1', 'b1')), 'a1'), []],
      [
        'is stable if it is on most nodes only when the Rollout first reports',
        (s) => deletes(reported(updatedNatively(createdAgain(s, 'a1'), 'b1', 'c1')), 'd1'),
        [],
      ],
      ['is released in steps if as many nodes run another', (s) => deletes(reported(createdAgain(s, 'a1', 'b1')), 'c1', 'd1'), ['G3 d']],
      [
        'is released in steps if no node ran it when the Rollout was created',
        (s) => deletes(reported(updatedNatively(createdAgain(withNodes(s)), 'a1', 'b1', 'e1', 'f1')), 'c1', 'd1'),
        ['G3 d'],
      ],
      [
        'is released in steps if it came to most nodes after the first report',
        (s) => deletes(updatedNatively(reported(createdAgain(withNodes(s), 'a1')), 'b1', 'e1', 'f1'), 'c1', 'd1'),
        ['G3 d'],
      ],
      [
        'is released in steps if the Rollout is enabled again, not created',
        (s) => deletes(enabledAgain(withNodes(s), 'a1', 'b1', 'e1', 'f1'), 'c1', 'd1'),
        ['G3 d'],
      ],
    ],
    { begin: () => released([wait, half]) },
  )
})

describe('the batches of a BatchRelease written by hand', () => {
  judgeEach(
    'G3',
    [
      ['are open up to its batchPartition, whatever the record says', (s) => taken(s, 'a1', 'b1'), ['G3 b']],
      ['open with a higher batchPartition', (s) => taken(plan(s, { batchPartition: 1 }), 'a1', 'b1', 'c1'), ['G3 c']],
      ['do not open by a write of Tranche', (s) => taken(plan(s, { batchPartition: 2 }, 'controller-1'), 'a1', 'b1'), ['G3 b']],
      [
        'are the largest that is open',
        (s) => taken(plan(s, { batches: [{ canaryReplicas: 3 }, { canaryReplicas: 1 }], batchPartition: 1 }), 'a1', 'b1', 'c1', 'd1'),
        ['G3 d'],
      ],
      [
        'close with a lower batchPartition',
        (s) => taken(plan(plan(s, { batchPartition: 2 }), { batchPartition: 0 }), 'a1', 'b1'),
        ['G3 b'],
      ],
      ['limit nothing without a batchPartition', (s) => taken(plan(s, { batchPartition: undefined }), 'a1', 'b1', 'c1', 'd1'), []],
      [
        'limit nothing if a Rollout owns it',
        (s) => taken(s.order({ metadata: { ownerReferences: [{ kind: 'Rollout' }] } }, { actor: 'user' }), 'a1', 'b1'),
        [],
      ],
      ['do not count leaked nodes', (s) => taken(s.gone('d1').pod('d2', { hash: 'v2' }).seen().wait(1), 'a1'), []],
    ],
    { begin: byHand },
  )
})
