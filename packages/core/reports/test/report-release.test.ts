import type { RolloutStep } from '@tranche/api-schema'
import { PINNED_CONFIG_ANNOTATION } from '@tranche/config'
import { type ControllerRevision, RECORDED_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import { explainRollout, type ReleaseFacts, reportBatches, reportHistory, reportRevisions, reportRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../test/fakes/fake-cluster.ts'
import { aRevision } from '../../../../test/fakes/build-view.ts'
import { aReading, type FactsFields, READ_MS, readFakeCluster } from './build-facts.ts'

const steps: readonly RolloutStep[] = [
  { replicas: '40%', pause: {} },
  { replicas: '60%', pause: { duration: 60 } },
]

it.each([
  ['the one before', 'old', { revision: 'old', at: '2023-11-14T21:00:00Z' }],
  ['the released one', 'new', undefined],
])('a report names the failed version that an abort returns to: %s is blocked', (_which, revision, failedStable) => {
  const heldRevisions = [{ digest: 'd', revision, reason: 'Failed' as const, at: '2023-11-14T21:00:00Z' }]
  const facts = aReading({ nodes: 'a:new b:old', rolloutStatus: { ...inState('StepPaused'), heldRevisions } })
  expect(reportRollout(facts).failedStable).toEqual(failedStable)
})

it('a report of a release of the stable version names none', () => {
  const heldRevisions = [{ digest: 'd', revision: 'new', reason: 'Failed' as const }]
  const { canaryStatus, ...status } = inState('StepPaused') as { canaryStatus: object }
  const facts = aReading({ rolloutStatus: { ...status, canaryStatus: { ...canaryStatus, stableRevision: 'new' }, heldRevisions } as never })
  expect(reportRollout(facts).failedStable).toBeUndefined()
})

describe('what a Rollout waits for', () => {
  it.each<[string, FactsFields, object]>([
    [
      'pods that are not available yet',
      {
        nodes: 'a:new b:new! c:old d:old e:old',
        status: waiting('NotAvailable', 'waiting for updated nodes to become available: not ready on a'),
      },
      {
        rule: 'Availability',
        answer: expect.stringMatching(/: waiting for updated nodes to become available: not ready on b \(since/),
        next: 'the pods on b become available',
      },
    ],
    [
      'room in the maxUnavailable budget',
      {
        nodes: 'a:old b:old! c:old d:old e:old',
        status: waiting('BudgetUsedUp', '1 more node is to be updated; maxUnavailable (1) is used up by b'),
      },
      { rule: 'Budget' },
    ],
    ['room in the budget of a zone', { status: waiting('SpreadUsedUp', 'zone=a may have 1 down') }, { rule: 'Spread' }],
    [
      'a response for a pod that may be about to be deleted',
      { status: waiting('TouchUnclear', 'the stop waits until it is known whether a deletion is still in flight: the pod on b (500)') },
      {
        rule: 'Stopping',
        next: 'the API server accepts changes of the pods on b: check that it responds and that no admission rule rejects them',
      },
    ],
    [
      'another release of its group',
      { status: waiting('GroupBusy', 'group agents releases one DaemonSet at a time; waiting for Rollout demo/logs') },
      { rule: 'Group', next: 'the other release of the group is over, is paused, or is deleted with its Rollout' },
    ],
    [
      'a program that holds the Lease of its group',
      { status: waiting('GroupLocked', 'group agents is held by "node-drainer", which is no release') },
      { rule: 'Group', next: 'the program that holds the Lease of the group deletes it' },
    ],
    [
      'an API server that fails to read the Lease of its group',
      { status: waiting('GroupFailed', 'group agents: the Lease of the group cannot be read') },
      { rule: 'Group', next: 'the controller can read and take the Lease of the group' },
    ],
    [
      'an installation that allows groups',
      { status: waiting('GroupNotAllowed', 'the installation does not allow groups') },
      {
        rule: 'Group',
        next: 'the installation allows groups and grants their rights (rbac.groups: true in the chart), or the policy names none',
      },
    ],
    ['nodes that are NotReady', { status: waiting('NodesNotReady', 'the policy waits for a') }, { rule: 'NotReady' }],
    [
      'a node in reach',
      { nodes: 'a:old? b:old?', status: waiting('NoNodeInReach', 'no node of the batch is in reach') },
      {
        rule: 'NotReady',
        next: 'one of a, b is Ready, and not in maintenance; abort: roll back to the stable revision',
      },
    ],
    [
      'a node in reach, while it is disabled',
      {
        nodes: 'a:old? b:old?',
        status: waiting('NoNodeInReach', 'no node of the batch is in reach'),
        rollout: { disabled: true, strategy: { canary: { steps: [{ replicas: '100%' }] } } },
        rolloutStatus: { phase: 'Disabling' },
      },
      {
        next: 'one of a, b is Ready, and not in maintenance; tranche.dev/on-delete is Freeze: leave the nodes as they are, or Rollback',
      },
    ],
    [
      'the only node of its step',
      { nodes: 'a:old? b:old', status: waiting('NoNodeInReach', 'no node is in reach'), tranche: { nodes: stepsOf('a') } },
      { rule: 'NotReady', next: expect.stringMatching(/^a is Ready, and not in maintenance; jump: continue at step 2; abort/) },
    ],
    [
      'a node in reach, in its last step',
      {
        nodes: 'a:old? b:old',
        status: waiting('NoNodeInReach', 'no node is in reach'),
        tranche: { nodes: { exclude: [{ matchLabels: { name: 'b' } }] } },
        rollout: { strategy: { canary: { steps: [{ replicas: '100%' }] } } },
      },
      {
        next: 'a is Ready, and not in maintenance; the policy excludes fewer nodes, or their labels change: b; abort: roll back to the stable revision',
      },
    ],
    ['a soak', { rolloutStatus: inState('StepMetricsAnalysis'), status: {} }, { rule: 'Soak' }],
    [
      'the clock, in a pause',
      {
        rollout: { strategy: { canary: { steps: [{ replicas: '40%', pause: { duration: 60 } }] } } },
        rolloutStatus: inState('StepPaused'),
      },
      { rule: 'Step', next: 'its pause ends at 2023-11-14T22:01:00.000Z' },
    ],
    [
      'approval, where the version to which an abort returns has failed',
      {
        nodes: 'a:new b:old~ c:old',
        rolloutStatus: {
          ...inState('StepPaused'),
          heldRevisions: [{ digest: 'd', revision: 'old', reason: 'Failed', at: '2023-11-14T21:00:00Z' }],
        },
      },
      {
        next: expect.stringContaining(
          'abort: roll back to the stable revision, old, which is blocked because it failed at 2023-11-14T21:00:00Z; not available there now: b;',
        ),
      },
    ],
    [
      'approval, in a pause',
      { rolloutStatus: inState('StepPaused') },
      {
        rule: 'Step',
        next: 'approve: continue with the next step; promote: continue without the remaining pauses; abort: roll back to the stable revision; jump: continue at another step',
      },
    ],
    [
      'a fix of the stall',
      { rolloutStatus: { conditions: [{ type: 'Stalled', status: 'True', reason: 'BudgetZero', message: 'maxUnavailable is 0' }] } },
      { rule: 'BudgetZero', answer: 'maxUnavailable is 0' },
    ],
    [
      'a controller that has not observed the change yet',
      { rolloutStatus: { observedGeneration: 0 } },
      {
        rule: 'Pending',
        answer: 'the controller has not yet observed generation 1 of the Rollout; step 1 of 2 (40%): 2 more nodes are to be updated',
      },
    ],
  ])('contains %s', (_name, fields, expected) => {
    expect(explainRollout(aReading(fields))).toMatchObject({ subject: 'agent', ...expected })
  })

  it('comes with its facts', () => {
    const reading = aReading({ nodes: 'a:new b:new! c:old d:old? e:old', status: waiting('NotAvailable', 'waiting for c') })
    expect(explainRollout(reading).facts).toEqual([
      { name: 'phase', value: 'Progressing (InRolling)' },
      { name: 'step', value: '1 of 2 (StepUpgrade since 2023-11-14T22:00:00Z)' },
      { name: 'releases', value: 'new: new' },
      { name: 'from', value: 'old' },
      { name: 'nodes', value: '2 of 5 updated, 1 of them available' },
      { name: 'down', value: '1 of at most 2: 1 whose new pod is not available (b)' },
      { name: 'skipped', value: '1 NotReady (d), updated once Ready' },
    ])
  })

  it('says once what it waits for', () => {
    const reading = aReading({ nodes: 'a:new b:new! c:old d:old e:old', status: waiting('NotAvailable', 'waiting for b') })
    const { answer, facts } = explainRollout(reading)
    expect(answer).toContain('waiting for updated nodes to become available')
    expect(facts.filter(({ value }) => value.includes('waiting for'))).toEqual([])
  })

  it('names nodes that keep their pods while others proceed', () => {
    const blocked = [{ node: 'c', reason: 'Draining', message: '1 pod uses the agent: b/c' }]
    const reading = aReading({
      nodes: 'a:new b:new! c:old d:old e:old',
      record: { blocked },
      status: waiting('NotAvailable', 'waiting for b'),
    })
    expect(explainRollout(reading).facts).toContainEqual({ name: 'blocked', value: 'c: 1 pod uses the agent: b/c' })
    expect(reportRollout(reading).blockedNodes).toEqual(blocked)
  })

  it('names nodes that keep their pods once: in the answer, if nothing else is awaited', () => {
    const blocked = [{ node: 'c', reason: 'Draining', message: '1 pod uses the agent: b/c' }]
    const reading = aReading({ nodes: 'a:new b:new c:old d:old e:old', record: { blocked }, status: waiting('Draining', 'c (1 pod)') })
    expect(explainRollout(reading)).toMatchObject({ rule: 'Drain', answer: expect.stringContaining('c (1 pod)') })
    expect(explainRollout(reading).facts.map(({ name }) => name)).not.toContain('blocked')
    expect(reportRollout(reading).blockedNodes).toBeUndefined()
  })

  it('names what ends the wait of each node', () => {
    const blocked = [
      { node: 'c', reason: 'Pulling', message: 'pulls agent:v2, since 22:00' },
      { node: 'd', reason: 'DrainBlocked', message: '1 pod uses the agent: b/c, since 22:01' },
      { node: 'e', reason: 'NewCheck', message: 'a newer check' },
    ]
    const status = waiting('DrainBlocked', 'c (pulls agent:v2, since 22:00), d (1 pod uses the agent: b/c, since 22:01)')
    const { next } = explainRollout(aReading({ nodes: 'a:new b:new c:old d:old e:old', record: { blocked }, status }))
    expect(next).toBe(
      'the pods that use the agent leave d; the new images are on c; then an executor deletes the old pods there; the check of the node succeeds',
    )
  })

  it('counts dead nodes apart from those that use the budget', () => {
    const change = { d: { ready: false, answers: false }, e: { ready: false, answers: false } }
    const reading = aReading({ nodes: 'a:new b:new! c:old d:old! e:old!', change, tranche: { nodes: { notReady: { exempt: 2 } } } })
    const { facts } = explainRollout(reading)
    expect(facts).toContainEqual({ name: 'down', value: '1 of at most 2: 1 whose new pod is not available (b)' })
    expect(facts).toContainEqual({
      name: 'dead',
      value: '2 (d, e), updated on return; at most 2 cost no budget (nodes.notReady.exempt)',
    })
  })

  it('says that dead nodes count if there are more than the policy exempts, and since when they are dead', () => {
    const dead = { ready: false, answers: false, silentSince: '2023-11-14T22:00:00Z' }
    const reading = aReading({
      nodes: 'a:new b:new c:old d:old! e:old!',
      change: { d: dead, e: dead },
      tranche: { nodes: { notReady: { exempt: 1 } } },
    })
    const { facts } = explainRollout(reading)
    expect(facts).toContainEqual({ name: 'down', value: '2 of at most 2: 2 dead (d, e)' })
    expect(facts).toContainEqual({
      name: 'dead',
      value: expect.stringMatching(
        /^2 \(d since 2023-11-14T22:00:00Z, e since .*\), updated on return; all of them count as down, because at most 1 /,
      ),
    })
  })

  it('names config that is not part of the version', () => {
    const message = 'a change of ConfigMap agent reaches running pods'
    const conditions = [{ type: 'ConfigUnversioned', status: 'True', reason: 'NamesWithoutHash', message }] as const
    expect(explainRollout(aReading({ rolloutStatus: { conditions } })).facts).toContainEqual({ name: 'config', value: message })
  })
})

const USED_UP = '; maxUnavailable (2) is used up: 1 whose old pod is not available (b)'

describe('the message of a report', () => {
  it.each<[string, FactsFields, string]>([
    [
      'names the nodes that are unavailable now, not those of the status',
      {
        nodes: 'a:new b:new! c:old d:old e:old',
        status: waiting('NotAvailable', 'waiting for updated nodes to become available: Pending on a'),
      },
      'step 1 of 2 (40%): waiting for updated nodes to become available: not ready on b (since 2023-11-14T22:13:00Z)',
    ],
    [
      'counts the nodes still to be updated',
      { nodes: 'a:new b:old c:old d:old e:old', status: waiting('Upgrading', '2 more nodes are to be updated') },
      'step 1 of 2 (40%): 1 more node is to be updated (since 2023-11-14T22:13:00Z)',
    ],
    [
      'says that the batch is complete before the controller observes it',
      {
        nodes: 'a:new b:new c:old d:old e:old',
        status: waiting('NotAvailable', 'waiting for updated nodes to become available: Pending on a'),
      },
      'step 1 of 2 (40%): every node of the batch is available; the controller has not observed that yet',
    ],
    [
      'says that a node that was down before its update is no failure, with the fix',
      {
        nodes: 'a:new! b:new c:old d:old e:old',
        change: { a: { pod: { trouble: { reason: 'CrashLoopBackOff' } } } },
        record: { permits: [{ node: 'a', podUid: 'before', podResourceVersion: '4', wasBad: true }] },
        status: waiting('NotAvailable', 'waiting for updated nodes to become available: Pending on a'),
      },
      badBeforeText('CrashLoopBackOff', 'had no available pod before the update either'),
    ],
    [
      'says that a node that ran the version before the release, and was down then, is no failure',
      {
        nodes: 'a:new! b:new c:old d:old e:old',
        status: {
          ...waiting('NotAvailable', 'x'),
          stoppedTime: { release: 'r', startedAt: '2023-11-14T22:00:00Z', seconds: 0, olderPods: ['pod-a'] },
        },
      },
      badBeforeText('not ready', 'ran the version before the release'),
    ],
    [
      'keeps what the status says of the other nodes that use up the budget',
      {
        nodes: 'a:new! b:old! c:old d:old e:old',
        status: waiting('NotAvailable', `waiting for updated nodes to become available: not ready on a${USED_UP}`, ['a']),
      },
      `step 1 of 2 (40%): waiting for updated nodes to become available: not ready on a${USED_UP} (since 2023-11-14T22:13:00Z)`,
    ],
    [
      'keeps the details that only the status has',
      { nodes: 'a:new! b:old c:old d:old e:old', status: waiting('SpreadUsedUp', '1 more node is to be updated; zone=a may have 1 down') },
      'step 1 of 2 (40%): 1 more node is to be updated; zone=a may have 1 down (since 2023-11-14T22:13:00Z)',
    ],
  ])('%s', (_name, fields, message) => {
    const facts = aReading(fields)
    expect(reportRollout(facts).message).toBe(message)
    expect(explainRollout(facts).answer).toBe(message)
  })

  it('names what leads past a node that was unhealthy with the version before the release', () => {
    const stoppedTime = { release: 'r', startedAt: '2023-11-14T22:00:00Z', seconds: 0, olderPods: ['pod-a'] }
    const facts = aReading({ nodes: 'a:new! b:new c:old d:old e:old', status: { ...waiting('NotAvailable', 'x'), stoppedTime } })
    expect(explainRollout(facts).next).toMatch(/^the pods on a become available; jump: .*; abort: /)
  })
})

describe('a last step as large as the fleet', () => {
  const pausesOf = (replicas: number | string): readonly (string | undefined)[] => {
    const last: readonly RolloutStep[] = [
      { replicas: 2, pause: {} },
      { replicas, pause: {} },
    ]
    return reportRollout(aReading({ rollout: { strategy: { canary: { steps: [...last] } } } })).steps.map(({ pause }) => pause)
  }

  it.each([[5], [9], ['100%'], ['81%']])('shows no pause, which never comes (%s)', (replicas) => {
    expect(pausesOf(replicas)).toEqual(['person', undefined])
  })

  it('shows its pause when it is smaller', () => {
    expect(pausesOf(4)).toEqual(['person', 'person'])
  })
})

describe('a pause', () => {
  const since = 'paused by spec.strategy.paused since 2023-11-14T22:13:00Z'
  const asked = 'requested by alice at 2023-11-14T22:13:00Z: INC-4711'
  const pausedBy = (stalled: boolean): ReturnType<typeof aReading> => {
    const at = '2023-11-14T22:13:00Z'
    const condition = { lastUpdateTime: at, lastTransitionTime: at, status: 'True' as const }
    const facts = aReading({
      rollout: { strategy: { paused: true, canary: { steps: [...steps] } } },
      rolloutStatus: {
        message: `${since}; run tranche resume agent -n demo to accept the failure, as a retry does, and continue`,
        lastAction: { id: '1', type: 'approve', by: 'bob', at: '2023-11-14T22:01:00Z', result: 'Accepted' },
        conditions: [
          { ...condition, type: 'Progressing', reason: 'Paused', message: '' },
          ...(stalled
            ? [{ ...condition, type: 'Stalled' as const, reason: 'ReleaseFailed' as const, message: 'revision new failed' }]
            : []),
        ],
      },
    })
    const record = { id: '2', type: 'pause', by: 'alice', via: 'cli', at: '2023-11-14T22:13:00Z', reason: 'INC-4711' }
    const annotations = { [RECORDED_ACTIONS_ANNOTATION]: JSON.stringify([record]) }
    return { ...facts, rollout: { ...facts.rollout, metadata: { ...facts.rollout.metadata, annotations } } }
  }

  it('is reported with its user and reason', () => {
    const facts = pausedBy(false)
    const message = `${since}; run tranche resume agent -n demo to accept the failure, as a retry does, and continue (${asked})`
    expect(reportRollout(facts).need).toMatchObject({ reason: 'Paused', message })
    expect(explainRollout(facts).facts).toEqual(
      expect.arrayContaining([
        { name: 'paused', value: asked },
        { name: 'last action', value: 'pause by alice at 2023-11-14T22:13:00Z: INC-4711' },
      ]),
    )
  })

  it.each([
    ['approve', '2023-11-14T21:59:00Z', '', ' (in an earlier release)'],
    ['approve', '2023-11-14T22:01:00Z', '', ''],
    ['undo', '2023-11-14T21:59:30Z', '', ''],
    ['undo', '2023-11-14T21:00:00Z', '', ' (in an earlier release)'],
    ['approve', '2023-11-14T21:59:00Z', ' whose first BatchRelease was deleted', ''],
  ] as const)('marks the action %s of %s in a release%s as one of an earlier release where it is one', (type, at, began, mark) => {
    const lastAction = { id: '1', type: type as 'approve', by: 'bob', at, result: 'Accepted' as const }
    const record = began === '' ? {} : { begunAt: '2023-11-14T21:30:00Z' }
    const facts = aReading({ rolloutStatus: { lastAction }, metadata: { creationTimestamp: '2023-11-14T22:00:00Z' }, record })
    const said = explainRollout(facts).facts.find(({ name }) => name === 'last action')?.value
    expect(said).toBe(`${type} by bob at ${at}: Accepted${mark}`)
  })

  it('is reported beside a failure, with the failures that its end accepts', () => {
    expect(reportRollout(pausedBy(true)).need).toMatchObject({
      reason: 'ReleaseFailed',
      message: `revision new failed; and it is ${since}; run tranche resume agent -n demo to accept the failure, as a retry does, and continue (${asked})`,
    })
  })
})

describe('the batches of a release', () => {
  it('come from the labels of their pods: count, start, and time of the last Ready', () => {
    const batch = (at: number, createdAt: string, readyStamp: string): object => ({
      pod: { rolloutBatchId: String(at), createdAt, readyStamp },
    })
    const facts = aReading({
      nodes: 'a:new b:new c:new! d:old e:old',
      change: {
        a: batch(1, '2023-11-14T22:01:00Z', '2023-11-14T22:01:07Z'),
        b: batch(1, '2023-11-14T22:00:00Z', '2023-11-14T22:01:09Z'),
        c: batch(2, '2023-11-14T22:02:00Z', '2023-11-14T22:02:00Z'),
      },
      rolloutStatus: inState('StepUpgrade', 2),
    })
    expect(reportBatches(facts)).toEqual([
      { index: 1, nodes: 2, updated: 2, available: 2, state: 'done', startedAt: '2023-11-14T22:00:00Z', readyAt: '2023-11-14T22:01:09Z' },
      { index: 2, nodes: 5, updated: 1, available: 0, state: 'current', startedAt: '2023-11-14T22:02:00Z' },
    ])
  })

  it('all lie ahead before the first release', () => {
    const fake = aFakeCluster()
    expect(reportBatches(readFakeCluster(fake)).map(({ state }) => state)).toEqual(['ahead', 'ahead'])
    expect(reportRollout(readFakeCluster(fake)).steps.map(({ state, pause }) => `${state} ${pause}`)).toEqual(['ahead person', 'ahead 60s'])
  })

  it('are all done after it, and the last one includes the nodes that followed', () => {
    const fake = aFakeCluster()
    fake.setImage('v2')
    settle(fake)
    fake.act({ id: '1', type: 'promote' })
    settle(fake)
    expect(reportBatches(readFakeCluster(fake)).map(({ state, nodes }) => `${state} ${nodes}`)).toEqual(['done 2', 'done 5'])
  })
})

describe('the revisions of a DaemonSet', () => {
  it.each<[string, string | undefined, string | undefined, readonly string[] | undefined]>([
    [
      'whose pinned config has changed',
      'ConfigMap/agent=agent-1,Secret/key=key-1',
      'ConfigMap/agent=agent-2,Secret/key=key-1',
      ['ConfigMap agent'],
    ],
    ['of which several have changed', 'ConfigMap/a=a-1,Secret/b=b-1', 'ConfigMap/a=a-2,Secret/b=b-2', ['ConfigMap a', 'Secret b']],
    ['whose config is the same', 'ConfigMap/agent=agent-1', 'ConfigMap/agent=agent-1', undefined],
    ['that pins its config for the first time', undefined, 'ConfigMap/agent=agent-1', undefined],
    ['that pins nothing any more', 'ConfigMap/agent=agent-1', undefined, undefined],
  ])('name the config that differs from the one before: one %s', (_name, before, after, want) => {
    const facts = aReading()
    const revisions = facts.revisions.map((revision) =>
      pinning(revision, revision.revision === Math.max(...numbersOf(facts)) ? after : before),
    )
    expect(reportRevisions({ ...facts, revisions }).map(({ changedConfig }) => changedConfig)).toEqual([want, undefined])
  })

  it('keep the change of config of an aborted revision after its rollback, and have it while a retry releases it', () => {
    const facts = aReading()
    const [first, second] = facts.revisions.toSorted((a, b) => a.revision - b.revision)
    const made = (one: typeof first, number: number, pins: string | undefined, at: string) => {
      const revision = pinning(one!, pins)
      return { ...revision, revision: number, metadata: { ...revision.metadata, creationTimestamp: at } }
    }
    const old = made(first, 9, 'ConfigMap/agent=agent-1', '2026-01-01T00:00:00Z')
    const aborted = made(second, 8, 'ConfigMap/agent=agent-2', '2026-01-02T00:00:00Z')
    const changes = (over: Partial<ReleaseFacts>): object =>
      Object.fromEntries(reportRevisions({ ...facts, ...over }).map(({ revision, changedConfig }) => [revision, changedConfig]))
    const { rollout } = facts
    const atRest = { ...rollout, status: { ...rollout.status!, phase: 'Healthy' as const } }
    expect(changes({ rollout: atRest, revisions: [old, aborted] })).toEqual({ old: undefined, new: ['ConfigMap agent'] })
    const bare = made(aRevision('bare', 10), 10, undefined, '2026-01-03T00:00:00Z')
    const again = { ...aborted, revision: 11, metadata: { ...aborted.metadata, creationTimestamp: '2026-01-04T00:00:00Z' } }
    expect(changes({ revisions: [old, bare, again] })).toMatchObject({ new: ['ConfigMap agent'] })
  })

  it('are reported newest first, with role, nodes and blocked state', () => {
    const fake = aFakeCluster()
    fake.setImage('v2')
    settle(fake)
    const reported = (): readonly string[] =>
      reportRevisions(readFakeCluster(fake)).map(({ revision, role, nodes, held }) => `${revision} ${role} ${nodes} ${held}`)
    expect(reported()).toEqual(['hash-v2 canary 2 false', 'hash-v1 stable 3 false'])
    fake.setImage('v3')
    settle(fake)
    expect(reported()).toEqual(['hash-v3 canary 2 false', 'hash-v2 none 0 false', 'hash-v1 stable 3 false'])
    fake.act({ id: '1', type: 'abort' })
    settle(fake)
    expect(reported()).toEqual(['hash-v1 stable 5 false', 'hash-v3 none 0 true', 'hash-v2 none 0 false'])
  })
})

describe('the history of a Rollout', () => {
  it('has the latest releases with their images, and the outcome of the running one', () => {
    const fake = aFakeCluster()
    fake.setImage('v2')
    settle(fake)
    const [running] = reportHistory(readFakeCluster(fake)).releases ?? []
    expect(running).toMatchObject({ revision: 'hash-v2', number: 2, images: ['v2'], result: 'Waiting' })
    fake.setImage('v3')
    settle(fake)
    expect(reportHistory(readFakeCluster(fake)).releases?.map(({ revision, result }) => [revision, result])).toEqual([
      ['hash-v3', 'Waiting'],
      ['hash-v2', 'Superseded'],
    ])
  })

  it('has no failure of a release that is rolled back to a version that failed', () => {
    const fake = aFakeCluster()
    fake.setImage('v2')
    settle(fake)
    const facts = readFakeCluster(fake)
    const stalled = { type: 'Stalled', status: 'True', reason: 'RevisionHeld', message: '' } as const
    const status = { ...facts.rollout.status!, conditions: [stalled] }
    const resultOf = (rollbackFrom: string | undefined): string | undefined =>
      reportHistory({ ...facts, rollout: { ...facts.rollout, status: { ...status, rollbackFrom } as never } }).releases?.[0]?.result
    expect([resultOf(undefined), resultOf('hash-v2')]).toEqual(['Failed', 'RolledBack'])
  })

  it('has the config that a release changed, which its images do not show', () => {
    const facts = aReading()
    const [first, second] = facts.revisions.toSorted((a, b) => a.revision - b.revision)
    const revisions = [pinning(first!, 'ConfigMap/agent=agent-1'), pinning(second!, 'ConfigMap/agent=agent-2')]
    const releases = [{ revision: 'new', startedAt: '2023-11-14T22:00:00Z', result: 'RolledBack' as const }]
    const rollout = { ...facts.rollout, status: { ...facts.rollout.status!, releases } }
    expect(reportHistory({ ...facts, rollout, revisions }).releases).toMatchObject([{ changedConfig: ['ConfigMap agent'] }])
  })

  it('has the actions on both objects, each once, newest first', () => {
    const base = aReading()
    const record = (id: string, type: string, minute: number): object => ({
      id,
      type,
      by: 'alice',
      via: 'cli',
      at: new Date(READ_MS + minute * 60_000).toISOString(),
    })
    const withRecord = <T extends { readonly metadata: object }>(object: T, ...records: readonly object[]): T => ({
      ...object,
      metadata: { ...object.metadata, annotations: { [RECORDED_ACTIONS_ANNOTATION]: JSON.stringify(records) } },
    })
    const rollout = withRecord(base.rollout, record('1', 'pause', 1), record('3', 'resume', 3))
    const daemonSet = withRecord(base.daemonSet!, record('2', 'undo', 2), record('3', 'resume', 3))
    expect(reportHistory({ ...base, rollout, daemonSet }).actions.map(({ id, type }) => `${id} ${type}`)).toEqual([
      '3 resume',
      '2 undo',
      '1 pause',
    ])
  })
})

function aFakeCluster(): FakeCluster {
  const fake = new FakeCluster({ steps })
  settle(fake)
  return fake
}

function waiting(reason: string, message: string, nodes: readonly string[] = ['b']): NonNullable<FactsFields['status']> {
  return { waiting: { reason, message, since: '2023-11-14T22:13:00Z', nodes } }
}

function inState(
  currentStepState: 'StepUpgrade' | 'StepPaused' | 'StepMetricsAnalysis',
  currentStepIndex = 1,
): NonNullable<FactsFields['rolloutStatus']> {
  const { status } = aReading().rollout
  return { currentStepState, currentStepIndex, canaryStatus: { ...status!.canaryStatus!, currentStepState, currentStepIndex } }
}

function numbersOf({ revisions }: ReleaseFacts): readonly number[] {
  return revisions.map(({ revision }) => revision)
}

/** A revision whose template has the annotation of pinned config. */
function pinning(revision: ControllerRevision, pins: string | undefined): ControllerRevision {
  const { spec } = revision.data as { spec: { template: { metadata?: object } } }
  const annotations = pins === undefined ? {} : { [PINNED_CONFIG_ANNOTATION]: pins }
  const template = { ...spec.template, metadata: { ...spec.template.metadata, annotations } }
  return { ...revision, data: { spec: { template } } }
}

function stepsOf(name: string) {
  return { steps: [{ matchLabels: { name } }, {}] }
}

function badBeforeText(state: string, why: string): string {
  const wait = `waiting for updated nodes to become available: ${state} on a; a ${why}`
  const ends = 'fix the node, or apply another template; or jump to a later step, or abort'
  return `step 1 of 2 (40%): ${wait}, so the version has not failed and no deadline applies: ${ends} (since 2023-11-14T22:13:00Z)`
}
