import type { ReleaseNodeRules } from '@tranche/api-schema'
import { wantedAllowance } from '@tranche/planner'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { toFleetView } from '@tranche/fleet'
import { describe, expect, it } from 'vitest'
import { aView, nodes as nodesOf, NOW_MS, type ViewFields } from '../../../../../test/fakes/build-view.ts'
import { nextRecheck } from '../../src/release/next-recheck.ts'
import { waitingFor } from '../../src/release/waiting-for.ts'

it('a release that waits for a dead node in flight names it, though the node runs the stable revision', () => {
  const view = aView({
    nodes: 'a:old!? b:old c:old d:old e:old',
    record: { permits: [{ node: 'a', podUid: 'gone-a', podResourceVersion: '4' }], limit: 1 },
    daemonSet: { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } } },
  })
  expect(waitingFor(view, wantedAllowance(view))).toMatchObject({ reason: 'BudgetUsedUp', nodes: ['a'] })
})

describe('a release without a node in reach', () => {
  const exclude = (...values: readonly string[]) => ({ matchExpressions: [{ key: 'name', operator: 'In' as const, values }] })
  const LACKING = 'no node of the batch is in reach, and no desired node runs the revision '
  it.each<[string, string, ReleaseNodeRules | undefined, readonly string[], string, string?, string?]>([
    [
      'that are NotReady',
      'a:old? b:old?',
      undefined,
      ['a', 'b'],
      '(NotReady, out of service or in maintenance: a, b); it continues once one of them is back',
    ],
    [
      'that the policy excludes',
      'a:old b:old',
      { exclude: [exclude('a', 'b')] },
      ['a', 'b'],
      '; it continues once the policy excludes fewer nodes',
      'NodesExcluded',
      'the policy excludes every node of the batch (a, b), and no desired node runs the revision',
    ],
    [
      'for both reasons',
      'a:old? b:old',
      { exclude: [exclude('b')] },
      ['a', 'b'],
      '(NotReady, out of service or in maintenance: a; excluded by the policy: b); it continues once a is back, or the policy excludes fewer nodes',
    ],
  ])(
    'names the nodes %s, and says what ends the wait (G6)',
    (_why, nodes, rules, names, text, reason = 'NoNodeInReach', what = LACKING) => {
      const view = aView({ nodes, record: { state: 'open' }, ...(rules !== undefined && { tranche: { nodes: rules } }) })
      expect(waitingFor(view, wantedAllowance(view))).toEqual({
        reason,
        message: `${what}${text}; or abort`,
        nodes: names,
        since: expect.any(String),
      })
    },
  )

  it.each([
    ['the next step, where it reaches a node', 'a:old? b:old c:old', [], 'jump to step 2, or abort'],
    ['a later one, where the policy excludes the nodes of the next', 'a:old? b:old c:old', ['b'], 'jump to step 3, or abort'],
    ['a later one, where the nodes of the next are NotReady', 'a:old? b:old? c:old', [], 'jump to step 3, or abort'],
    ['none, where the policy excludes the nodes of all later ones', 'a:old? b:old c:old', ['b', 'c'], 'abort'],
    ['none, where it excludes all nodes', 'a:old b:old c:old', ['a', 'b', 'c'], 'abort'],
    ['none, where no later step has another node', 'a:old?', [], 'abort'],
  ])('names the step to jump to: %s', (_which, nodes, excluded, out) => {
    const rules = {
      steps: [{ matchLabels: { name: 'a' } }, { matchLabels: { name: 'b' } }, {}],
      ...(excluded.length > 0 && { exclude: [exclude(...excluded)] }),
    }
    const batches = rules.steps.map(() => ({ canaryReplicas: '100%' }))
    const view = aView({ nodes, record: { state: 'open' }, spec: { batches, batchPartition: 0 }, tranche: { nodes: rules } })
    expect(waitingFor(view, wantedAllowance(view))?.message.split('; or ').at(-1)).toBe(out)
  })

  it('names no jump to a node that no step takes', () => {
    const spec = { batches: [{ canaryReplicas: '100%' }], batchPartition: 0 }
    const tranche = { nodes: { steps: [{ matchLabels: { name: 'a' } }] } }
    const view = aView({ nodes: 'a:old? b:old', record: { state: 'open' }, spec, tranche })
    expect(waitingFor(view, wantedAllowance(view))?.message).toMatch(/once a is back; or abort$/)
  })

  it('names no jump where all steps take the same nodes', () => {
    const view = aView({ nodes: 'a:old? b:old?', record: { state: 'open' } })
    expect(waitingFor(view, wantedAllowance(view))?.message).toMatch(/once one of them is back; or abort$/)
  })

  it.each([
    ['with old pods', 'a:old? b:old?'],
    ['without pods', 'a:-? b:-?'],
    ['that were updated', 'a:new? b:new?'],
  ])('does not end where no node is desired, because dead nodes %s are left (G3)', (_which, text) => {
    const fleet = toFleetView(nodesOf(text).nodes.map((node) => ({ ...node, desired: false, desiredOnReturn: true })))
    const { batchPartition: _last, ...releasePlan } = aView().release.spec.releasePlan
    const tranche = { failure: { maxFailedNodes: 2 } }
    const view = aView({ record: { state: 'open' }, status: { phase: 'Finalizing' }, tranche, view: { fleet } })
    const release = { ...view.release, spec: { ...view.release.spec, releasePlan } }
    const last = { ...view, release }
    expect(waitingFor(last, wantedAllowance(last))).toMatchObject({
      reason: 'NoNodeInReach',
      nodes: ['a', 'b'],
      message: expect.stringMatching(/; or abort; if the Rollout is disabled or deleted, set tranche.dev\/on-delete to Freeze$/),
    })
  })
})

it.each([
  ['in a step', 'old', 0, /: fix the node, or apply another template; or jump to a later step, or abort$/],
  ['in the last step', 'old', 1, /: fix the node, or apply another template; or abort$/],
  [
    'after the steps',
    'old',
    undefined,
    /: fix the node, or apply another template; or abort; if the Rollout is disabled or deleted, set tranche\.dev\/on-delete to Rollback$/,
  ],
  [
    'in a rollback, which cannot be aborted',
    'new',
    0,
    /no deadline applies; nothing stops a rollback: fix these nodes, undo to another revision/,
  ],
] as const)('names what ends the wait for a node that was down before its update, %s', (_when, stableRevision, batchPartition, text) => {
  const trouble = { reason: 'CrashLoopBackOff' }
  const fleet = toFleetView(
    nodesOf('a:new! b:old c:old d:old e:old').nodes.map((node) => ({
      ...node,
      pods: node.pods.map((pod) => (pod.node === 'a' ? { ...pod, trouble } : pod)),
    })),
  )
  const permits = [{ node: 'a', podUid: 'before', podResourceVersion: '4', wasBad: true }]
  const view = aView({ record: { state: 'open', permits }, spec: { batchPartition }, tranche: { stableRevision }, view: { fleet } })
  expect(waitingFor(view, wantedAllowance(view))?.message).toMatch(text)
})

it('a release whose nodes are blocked for one cause says it once, with the first nodes', () => {
  const blocked = (...messages: readonly string[]): string | undefined => {
    const nodes = messages.map((message, at) => ({ node: 'abcde'.charAt(at), reason: 'PrePullNotAllowed', message }))
    const view = aView({ record: { state: 'open', blocked: nodes } })
    return waitingFor(view, wantedAllowance(view))?.message
  }
  expect(blocked('not allowed', 'not allowed', 'not allowed', 'not allowed')).toContain(': a, b, c and 1 more (not allowed); allow it')
  expect(blocked('not allowed', 'not here')).toContain(': a (not allowed), b (not here); allow it')
})

it('a release keeps the time since which it waits while another node, which was down before, has a permit that is not used yet', () => {
  const permits = [
    { node: 'b', podUid: 'pod-b', podResourceVersion: '4', wasBad: true },
    { node: 'a', podUid: 'before', podResourceVersion: '4' },
  ]
  const status = { waiting: { reason: 'BudgetUsedUp', message: '', nodes: ['a', 'b'], since: new Date(NOW_MS - 60_000).toISOString() } }
  const view = aView({ nodes: 'a:old! b:old! c:old d:old e:old', record: { permits, limit: 1 }, daemonSet: limitOf(1), status })
  expect(waitingFor(view, wantedAllowance(view))).toMatchObject({ reason: 'BudgetUsedUp', since: status.waiting.since })
})

it('a release that waits for new pods names no node twice if those nodes use the whole budget', () => {
  const view = aView({ nodes: 'a:- b:- c:old d:old e:old', spec: { batches: [{ canaryReplicas: 3 }] } })
  expect(waitingFor(view, wantedAllowance(view))).toMatchObject({ reason: 'Upgrading', message: 'waiting for new pods on a, b' })
})

it('a release that waits for new pods names no node that uses the budget while there is some left', () => {
  const view = aView({ nodes: 'a:- b:old! c:old d:old e:old', record: { limit: 3 }, daemonSet: limitOf(3) })
  expect(waitingFor(view, wantedAllowance(view))?.message).toBe('waiting for new pods on a')
})

it('a release that waits for the last new pods of its batch names no node that uses the budget, because it takes none down', () => {
  const view = aView({ nodes: 'a:- b:new c:old! d:old e:old', daemonSet: limitOf(2) })
  expect(waitingFor(view, wantedAllowance(view))?.message).toBe('waiting for new pods on a')
})

describe('a rollback that found a dead node on its revision', () => {
  const back: ViewFields = {
    nodes: 'a:new!? b:new c:old d:old e:old',
    metadata: { creationTimestamp: '2023-11-14T22:14:00Z' },
    tranche: { stableRevision: 'new' },
    annotations: { [daemonSetAnnotations.stableRevision]: 'new' },
  }

  it.each([
    ['does not count it among those that it updated', {}, '1 more node is to be updated'],
    [
      'nor does it where executors wait for their queue',
      { queueOutage: 'no answer' },
      '1 more node is to be updated; executors start nothing while the job queue is unavailable, and continue by themselves when it is back: no answer',
    ],
  ])('%s', (_what, also, message) => {
    const view = aView({ ...back, view: also })
    expect(waitingFor(view, wantedAllowance(view))?.message).toBe(message)
  })
})

function limitOf(maxUnavailable: number) {
  return { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable } } } as const
}

describe('a budget that nodes of a later step use up', () => {
  const named = (...values: readonly string[]) => ({ matchExpressions: [{ key: 'name', operator: 'In' as const, values }] })
  const ends = (nodes: string, canary: readonly string[]): string | undefined => {
    const batches = [{ canaryReplicas: '100%' }, { canaryReplicas: '100%' }, { canaryReplicas: '100%' }]
    const steps = [named(...canary), named('c'), {}]
    const view = aView({ nodes, daemonSet: limitOf(2), spec: { batches, batchPartition: 0 }, tranche: { nodes: { steps } } })
    return waitingFor(view, wantedAllowance(view))?.message.split('; ').at(-1)
  }

  it.each([
    [
      'names them and that step',
      'a:old! b:old! c:old d:old e:old',
      ['d'],
      'only step 3 updates a, b: it continues once fewer than 2 are down, after a jump to step 3, or once maxUnavailable is at least 3',
    ],
    [
      'names the first step that ends it',
      'a:old! b:old c:old! d:old e:old',
      ['d'],
      'only step 2 updates c: it continues once fewer than 2 are down, after a jump to step 2, or once maxUnavailable is at least 3',
    ],
    [
      'names them where nodes of the step are down, too',
      'a:old! b:old! c:old d:old! e:old',
      ['d'],
      'only step 3 updates a, b: it continues once fewer than 2 are down, after a jump to step 3, or once maxUnavailable is at least 4',
    ],
    [
      'names none where a node of the step could free it',
      'a:old! b:old c:old d:old e:old!',
      ['d', 'e'],
      'maxUnavailable (2) is used up: 2 whose old pod is not available (a, e)',
    ],
    [
      'names none where machines are NotReady',
      'a:old!? b:old!? c:old d:old e:old',
      ['d'],
      'it continues once no more than 1 is dead, nodes.notReady.exempt is at least 2, or maxUnavailable is at least 3',
    ],
  ])('%s', (_what, nodes, canary, text) => {
    expect(ends(nodes, canary)).toBe(text)
  })

  it('names none where the nodes run the new version already', () => {
    expect(ends('a:new! b:new! c:old d:old e:old', ['d'])).not.toContain('only step')
  })
})

describe('a budget that excluded nodes use up', () => {
  const exclude = [{ matchExpressions: [{ key: 'name', operator: 'In' as const, values: ['a', 'b'] }] }]
  const after = (ms: number): string => new Date(NOW_MS + ms).toISOString()
  const waits = (fields: ViewFields) => {
    const view = aView({ nodes: 'a:old! b:old! c:old d:old e:old', tranche: { nodes: { exclude } }, ...fields })
    const wanted = wantedAllowance(view)
    return { waiting: waitingFor(view, wanted), recheckMs: nextRecheck(view, wanted) }
  }
  const since = (reason: string, ms: number): ViewFields => ({
    status: { observedGeneration: 4, waiting: { reason, message: '', nodes: ['a', 'b'], since: after(ms) } },
  })

  it('is said with what ends it', () => {
    const { waiting } = waits({})
    expect(waiting).toMatchObject({ reason: 'BudgetUsedUp', nodes: ['a', 'b'], since: after(0) })
    expect(waiting?.message.split('; ')).toEqual([
      '2 more nodes are to be updated',
      'maxUnavailable (2) is used up: 2 excluded by the policy (a, b)',
      'nothing updates a, b while the policy excludes them: exclude fewer nodes, delete their pods, or raise maxUnavailable (2) to at least 3',
    ])
  })

  it('needs a person once it has lasted as long as a new pod may take', () => {
    const { waiting, recheckMs } = waits(since('BudgetUsedUp', -599_999))
    expect([waiting?.reason, waiting?.since, recheckMs]).toEqual(['BudgetUsedUp', after(-599_999), 1])
    expect(waits(since('BudgetUsedUp', -600_000)).waiting).toMatchObject({ reason: 'NodesExcluded', since: after(-600_000) })
    expect(waits(since('NodesExcluded', -700_000)).waiting).toMatchObject({ reason: 'NodesExcluded', since: after(-700_000) })
  })

  it.each([
    ['are NotReady', 'a:old!? b:old!? c:old d:old e:old'],
    ['were another’s before', 'a:old! b:old! c:old d:old e:old', ['c', 'd']],
  ])('needs none yet where the nodes %s', (_which, nodes, before = ['a', 'b']) => {
    const waiting = { reason: 'BudgetUsedUp', message: '', nodes: before, since: after(-700_000) }
    expect(waits({ nodes, status: { observedGeneration: 4, waiting } }).waiting?.reason).toBe('BudgetUsedUp')
  })

  it('needs none where another node could free it', () => {
    const { waiting } = waits({ ...since('NodesExcluded', -700_000), nodes: 'a:old! b:old c:old! d:old e:old' })
    expect(waiting).toMatchObject({ reason: 'BudgetUsedUp', since: after(0) })
    expect(waiting?.message).not.toContain('nothing updates')
  })
})
