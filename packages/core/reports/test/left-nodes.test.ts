import { explainNode, explainRollout, reportRollout, summarizeRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { permitFor } from '../../../../test/fakes/build-view.ts'
import { aReading, type FactsFields } from './build-facts.ts'

const since = '2023-11-14T22:00:00Z'
const excludeE = { exclude: [{ matchLabels: { name: 'e' } }] }
const skipping: FactsFields = {
  nodes: 'a:new b:new c:old!? d:old e:old',
  change: { c: { silentSince: since }, d: { maintenance: 'Drained', maintenanceSince: since } },
  tranche: { nodes: excludeE },
}
/** A release that is over but for nodes: one dead, one excluded, one with a tolerated failure. */
const over: FactsFields = {
  nodes: 'a:new b:new! c:old!? d:new e:old',
  change: { c: { silentSince: since } },
  tranche: { nodes: excludeE },
  spec: { batchPartition: undefined },
  record: { size: 5, partition: 0, permits: [permitFor('b')] },
  status: {
    phase: 'Finalizing',
    waiting: { reason: 'NodesLeft', message: 'x', nodes: ['c', 'e', 'b'], since },
    failure: { reason: 'ReleaseFailed', message: '', nodes: ['b'], release: 'r1' },
  },
  rolloutStatus: { phase: 'Healthy', message: '3 nodes are left behind' },
}

describe('the nodes that a release leaves', () => {
  it('are those that it skips while it runs, by cause', () => {
    expect(reportRollout(aReading(skipping)).leftNodes).toEqual([
      { cause: 'Dead', count: 1, nodes: ['c'], message: `1 dead (c since ${since})`, next: 'updated on return' },
      {
        cause: 'Maintenance',
        count: 1,
        nodes: ['d'],
        message: `1 in maintenance (d: Drained since ${since})`,
        next: 'updated once that ends',
      },
      expect.objectContaining({ cause: 'Excluded', count: 1, nodes: ['e'] }),
    ])
  })

  it('are those that it left behind once it is over, with tolerated ones', () => {
    const { leftNodes = [] } = reportRollout(aReading(over))
    expect(leftNodes.map(({ cause, nodes }) => [cause, nodes])).toEqual([
      ['Dead', ['c']],
      ['Failed', ['b']],
      ['Excluded', ['e']],
    ])
  })

  it('are those whose failure a retry accepted, too, in a pause and once the release is over', () => {
    const failure = { reason: 'Accepted', message: '', nodes: [], release: 'r1', stops: false, accepted: ['b'] } as const
    const during = aReading({ nodes: 'a:new b:new!? c:old d:old e:old', status: { failure } })
    const after = aReading({
      ...over,
      nodes: 'a:new b:new!? c:new d:new e:old',
      record: { ...over.record, permits: [] },
      status: { ...over.status, failure },
    })
    for (const facts of [during, after])
      expect(reportRollout(facts).leftNodes).toContainEqual(expect.objectContaining({ cause: 'Failed', nodes: ['b'] }))
    expect(explainRollout(during).facts).toContainEqual({ name: 'left', value: expect.stringContaining('(b)') })
    const stopped = aReading({ nodes: 'a:new b:new!? c:old d:old e:old', status: { failure: { ...failure, stops: true } } })
    expect(reportRollout(stopped).leftNodes).toBeUndefined()
  })

  it('are those whose failure a retry accepted, also while a failure on another one stops the release that is over', () => {
    const failure = { reason: 'ReleaseFailed', message: '', nodes: ['d'], release: 'r1/left', stops: true, accepted: ['b'] }
    const stopped = aReading({
      ...over,
      nodes: 'a:new b:new!? c:new d:new! e:old',
      tranche: { ...over.tranche, left: { nodes: ['b', 'd'] } },
      record: { ...over.record, permits: [permitFor('d')] },
      status: { ...over.status, waiting: { ...over.status!.waiting!, reason: 'ReleaseFailed' }, failure },
    })
    const { leftNodes = [] } = reportRollout(stopped)
    expect(leftNodes[0]).toMatchObject({ cause: 'Failed', count: 2, nodes: ['d', 'b'] })
  })

  describe('once only failures that a retry accepted are left', () => {
    const failure = { reason: 'Accepted', message: '', nodes: [], release: 'r1', stops: false, accepted: ['b'] } as const
    const times = { lastUpdateTime: since, lastTransitionTime: since }
    const kept = { type: 'StrategyRestored', status: 'False', reason: 'NodesLeft', message: '', ...times } as const
    const facts = (status: FactsFields['rolloutStatus']): FactsFields => ({
      ...over,
      nodes: 'a:new b:new! c:new d:new',
      tranche: { left: { nodes: ['b'] } },
      record: { ...over.record, permits: [] },
      status: { ...over.status, waiting: undefined, failure },
      rolloutStatus: { phase: 'Healthy', message: 'revision new is current', conditions: [kept], ...status },
    })

    it('are named by the message, as by the groups', () => {
      const { message, leftNodes, outcome } = reportRollout(aReading(facts({})))
      expect(outcome).toBe('Done')
      expect(message).toBe(
        '1 node is left behind: 1 failed, which a retry accepted (b), done once an available pod runs there, or another template is applied',
      )
      expect(leftNodes).toMatchObject([{ cause: 'Failed', message: '1 failed, which a retry accepted (b)' }])
    })

    it.each<[string, FactsFields['rolloutStatus']]>([
      ['whose strategy was given back', { conditions: [] }],
      ['that rolled a version back', { rollbackFrom: 'bad' }],
    ])('are not named by the message of a release %s', (_which, status) => {
      expect(reportRollout(aReading(facts(status))).message).toBe('revision new is current')
    })
  })

  it('are not said to be updated or tolerated while a failure on one of them stops the others', () => {
    const status = { ...over.status, waiting: { ...over.status!.waiting!, reason: 'ReleaseFailed' } }
    const failure = { reason: 'ReleaseFailed', message: '', nodes: ['b'], release: 'r1/left', stops: true }
    const failed: FactsFields = { ...over, tranche: { ...over.tranche, left: { nodes: ['b', 'c', 'd'] } }, status: { ...status, failure } }
    const stopped = aReading({ ...failed, nodes: 'a:new b:new! c:old!? d:old e:old' })
    const { leftNodes = [] } = reportRollout(stopped)
    expect(explainRollout(stopped).facts).toContainEqual({
      name: 'dead',
      value: expect.stringContaining('updated on return after a retry;'),
    })
    expect(leftNodes.map(({ message, next }) => `${message}: ${next}`)).toEqual([
      `1 dead (c since ${since}): updated on return after a retry`,
      '1 back with the old pod (d): updated after a retry',
      '1 failed (b): done once an available pod runs there, or another template is applied',
      expect.stringContaining('1 excluded by nodes.exclude of the policy (e)'),
    ])
    expect(explainNode(aReading(failed), 'b')?.answer).toMatch(/counts as a failure of the new version$/)
  })

  it.each([
    ['has healed', 'b:new', '; available again: b'],
    ['still fails', 'b:new!', ''],
  ])('are said to be available again, where a failure stops the others: one that %s', (_what, failed, healed) => {
    const message = 'revision new failed on nodes that its release had left: b: ErrImagePull'
    const stalled = {
      type: 'Stalled',
      status: 'True',
      reason: 'ReleaseFailed',
      message,
      lastUpdateTime: since,
      lastTransitionTime: since,
    } as const
    const failure = { reason: 'ReleaseFailed', message: '', nodes: ['b'], release: 'r1/left', stops: true }
    const facts = aReading({
      ...over,
      nodes: `a:new ${failed} c:new d:new e:old`,
      tranche: { ...over.tranche, left: { nodes: ['b'] } },
      status: { ...over.status, failure },
      rolloutStatus: { phase: 'Healthy', message, conditions: [stalled] },
    })
    const { need, message: said, outcome } = summarizeRollout(facts)
    expect([outcome, said, need?.message]).toEqual(['Failed', `${message}${healed}`, `${message}${healed}`])
    const paused = {
      ...facts,
      rollout: { ...facts.rollout, spec: { ...facts.rollout.spec, strategy: { ...facts.rollout.spec.strategy, paused: true } } },
    }
    expect(summarizeRollout(paused).need?.message).not.toContain('and it is')
  })

  describe('while one of them is being updated', () => {
    const left = { left: { nodes: ['c', 'd'] } }
    const status = { ...over.status, failure: undefined, waiting: { ...over.status!.waiting!, nodes: ['c', 'd'] } }
    const base = {
      ...over,
      nodes: 'a:new b:new c:old!? d:new!',
      tranche: left,
      status,
      record: { ...over.record, permits: [permitFor('d')] },
    }
    const updating: FactsFields = { ...base, rolloutStatus: { phase: 'Healthy', message: '1 back with the old pod (d), updated next' } }
    const failure = { reason: 'ReleaseFailed', message: '', nodes: [], release: 'r1/left' }
    const trouble = { reason: 'CrashLoopBackOff', message: '' }
    const wasBad = { record: { ...over.record, permits: [{ ...permitFor('d'), wasBad: true }] } } satisfies FactsFields

    const rollback = { canaryRevision: 'new', stableRevision: 'new' }
    const times = { lastUpdateTime: since, lastTransitionTime: since }
    const rolledBack = { type: 'Succeeded' as const, status: 'False' as const, reason: 'Succeeded' as const, message: '', ...times }

    it.each<[string, FactsFields, string]>([
      ['runs, while its new pod starts', updating, 'Running'],
      ['runs, while it has no pod', { ...updating, nodes: 'a:new b:new c:old!? d:-' }, 'Running'],
      ['runs, while its old pod is to be deleted', { ...updating, nodes: 'a:new b:new c:old!? d:old' }, 'Running'],
      ['is done, once the new pod is available', { ...updating, nodes: 'a:new b:new c:old!? d:new' }, 'Done'],
      ['is done, if the node was lost meanwhile', { ...updating, nodes: 'a:new b:new c:old!? d:new!?' }, 'Done'],
      ['is done, if the node is in maintenance', { ...updating, change: { d: { maintenance: 'Drained' } } }, 'Done'],
      [
        'is done, if the pod failed and that is tolerated',
        { ...updating, status: { ...status, failure: { ...failure, nodes: ['d'] } } },
        'Done',
      ],
      [
        'is done, if a retry accepted the failure',
        { ...updating, status: { ...status, failure: { ...failure, accepted: ['d'] } } },
        'Done',
      ],
      ['runs, while a node that was broken before starts', { ...updating, ...wasBad }, 'Running'],
      ['is done, if a node that was broken before still is', { ...updating, ...wasBad, change: { d: { pod: { trouble } } } }, 'Done'],
      ['is done, if the release had not left the node', { ...updating, tranche: { left: { nodes: ['c'] } } }, 'Done'],
      ['is done before the release names nodes', { ...updating, tranche: {} }, 'Done'],
      ['is running, if it was a rollback, which names no nodes', { ...updating, tranche: rollback }, 'Running'],
      [
        'is not rolled back yet, if it was a rollback',
        { ...updating, tranche: rollback, rolloutStatus: { ...updating.rolloutStatus, conditions: [rolledBack] } },
        'Running',
      ],
      [
        'is rolled back, if it was a rollback whose pod has failed there',
        {
          ...updating,
          change: { d: { pod: { trouble } } },
          tranche: rollback,
          rolloutStatus: { ...updating.rolloutStatus, conditions: [rolledBack] },
        },
        'RolledBack',
      ],
      [
        'is rolled back, if no node of it is being updated',
        {
          ...updating,
          nodes: 'a:new b:new c:old?',
          record: {},
          tranche: rollback,
          rolloutStatus: { ...updating.rolloutStatus, conditions: [rolledBack] },
        },
        'RolledBack',
      ],
    ])('the release %s', (_what, fields, outcome) => {
      expect(summarizeRollout(aReading(fields)).outcome).toBe(outcome)
    })

    it('are not counted before the release is over for its Rollout', () => {
      const early: FactsFields = {
        ...updating,
        nodes: 'a:new b:new c:new d:new!',
        status: { ...status, waiting: undefined },
        rolloutStatus: { phase: 'Progressing', message: 'it continues' },
      }
      expect(summarizeRollout(aReading(early)).message).toBe('it continues')
    })

    it('say so, though the status is older', () => {
      expect(summarizeRollout(aReading(updating)).message).toBe(
        `2 nodes are left behind: 1 dead (c since ${since}), updated on return; 1 updated and not available (d), done once the new pod is available`,
      )
      const paused: FactsFields = {
        ...updating,
        nodes: 'a:new b:new c:old!?',
        record: {},
        tranche: rollback,
        status: { waiting: undefined },
      }
      expect(explainNode(aReading(paused), 'c')?.answer).toContain('c is left behind')
      expect(explainRollout(aReading(updating)).next).toBe('the nodes that are being updated have an available pod')
    })
  })

  it('are absent without any', () => {
    expect(reportRollout(aReading({ nodes: 'a:new b:new c:old' }))).not.toHaveProperty('leftNodes')
  })

  it('are facts about the release, the dead ones once, with the number that costs no budget', () => {
    const facts = explainRollout(aReading(skipping)).facts.filter(({ name }) => ['dead', 'skipped', 'excluded', 'left'].includes(name))
    expect(facts).toEqual([
      { name: 'dead', value: `1 (c since ${since}), updated on return; at most 1 cost no budget (nodes.notReady.exempt)` },
      { name: 'skipped', value: `1 in maintenance (d: Drained since ${since}), updated once that ends` },
      { name: 'excluded', value: expect.stringContaining('1 excluded by nodes.exclude of the policy (e), updated once ') },
    ])
    const left = explainRollout(aReading(over)).facts
    expect(left).toContainEqual({ name: 'left', value: expect.stringContaining('1 failed, which is tolerated (b), done once ') })
    expect(left.map(({ name }) => name)).not.toContain('waits for')
  })

  it.each<[string, FactsFields, string, string]>([
    ['is dead', skipping, 'c', `c is skipped because it is dead: its kubelet does not respond (NotReady), since ${since}`],
    [
      'is dead, once the release is over',
      over,
      'c',
      `c is left behind because it is dead: its kubelet does not respond (NotReady), since ${since}`,
    ],
    ['is in maintenance', skipping, 'd', `d is skipped: the node is in maintenance (condition Drained), since ${since}`],
    [
      'failed, once the release is over',
      over,
      'b',
      'b runs revision new and is not available: the pod is not Ready, which counts as a failure of the new version and is tolerated',
    ],
  ])('are explained one by one: a node that %s', (_which, fields, node, answer) => {
    expect(explainNode(aReading(fields), node)?.answer).toBe(answer)
  })
})

describe('the counts of dead nodes in a summary', () => {
  it.each<[string, FactsFields, object]>([
    ['are 0 without any', { nodes: 'a:new b:old! c:old' }, { unavailable: 1, dead: 0, exempt: 0 }],
    ['say that all cost no budget', { nodes: 'a:new b:old!? c:old' }, { unavailable: 1, dead: 1, exempt: 1 }],
    ['say that all cost budget if there are more', { nodes: 'a:new b:old!? c:old!?' }, { unavailable: 2, dead: 2, exempt: 0 }],
  ])('%s', (_what, fields, counts) => {
    expect(summarizeRollout(aReading(fields)).nodes).toMatchObject(counts)
  })
})

it('a node that dies between releases is dead already then, as the next release will count it', () => {
  const nodes = 'a:new b:new c:new!?'
  const between = aReading({ nodes, rolloutStatus: { phase: 'Healthy', stableRevision: 'new' } })
  expect(summarizeRollout({ ...between, release: undefined }).nodes).toMatchObject({ unavailable: 1, dead: 1, exempt: 1 })
  expect(summarizeRollout(aReading({ nodes })).nodes).toMatchObject({ unavailable: 1, dead: 0, exempt: 0 })
})

describe('a step that matches no node', () => {
  const selecting = (pause: object): FactsFields => ({
    nodes: 'a:old b:old c:old',
    rollout: { strategy: { canary: { steps: [{ nodes: { matchLabels: { name: 'none' } }, pause }, { replicas: '100%' }] } } },
    spec: { batches: [{ canaryReplicas: '100%' }, { canaryReplicas: '100%' }] },
    tranche: { nodes: { steps: [{ matchLabels: { name: 'none' } }] } },
    rolloutStatus: {
      message: 'step 1 of 2 is ready and waits for approval',
      canaryStatus: { ...aReading().rollout.status!.canaryStatus!, currentStepState: 'StepPaused' },
    },
  })
  const failed: FactsFields = { status: { failure: { reason: 'ReleaseFailed', message: '', nodes: ['a'], release: 'r1' } } }

  it.each<[string, FactsFields, string]>([
    ['has no node, and waits for approval', selecting({}), `step 1 of 2 (name=none): no node; waits for approval since ${since}`],
    ['has no node, and pauses', selecting({ duration: 60 }), `step 1 of 2 (name=none): no node; pauses for 60 s since ${since}`],
    ['hides no failure', { ...selecting({}), ...failed }, 'step 1 of 2 is ready and waits for approval'],
  ])('%s', (_what, fields, message) => {
    expect(summarizeRollout(aReading(fields)).message).toBe(message)
  })
})
