import { blockedReasons, type BlockedNode, groupWaitReasons, personWaits, reachWaitReasons, type WaitingFor } from '@tranche/api-schema'
import { explainNode, explainRollout, type ReleaseFacts, summarizeRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { aReading, type FactsFields } from './build-facts.ts'

const since = '2023-11-14T22:13:00Z'

function waitsFor(reason: string, more: FactsFields = {}): FactsFields {
  const waiting: WaitingFor = { reason, message: `held by ${reason}; the fix`, nodes: ['c'], since }
  return { nodes: 'a:new b:new c:old d:old e:old', status: { waiting: { ...waiting, since } }, ...more }
}

function blocked(...reasons: readonly string[]): FactsFields {
  const nodes: readonly BlockedNode[] = reasons.map((reason, at) => ({ node: 'cde'.charAt(at), reason, message: 'not now' }))
  return { record: { blocked: nodes } }
}

describe('a release that waits for a check or its group', () => {
  it('has a decision for each reason', () => {
    expect(Object.keys(personWaits).toSorted()).toEqual(
      [...blockedReasons, ...groupWaitReasons, ...reachWaitReasons, 'AcceptedFailed', 'UnavailableBefore', 'NotDeleted'].toSorted(),
    )
  })

  it.each([...blockedReasons, ...groupWaitReasons])('is Blocked exactly if only a person ends the wait: %s', (reason) => {
    const facts = aReading(waitsFor(reason))
    const { outcome, need } = summarizeRollout(facts)
    const { answer, rule, next } = explainRollout(facts)
    const isForPerson = reason.endsWith('NotAllowed')
    expect(outcome).toBe(isForPerson ? 'Blocked' : 'Running')
    expect(need).toEqual(
      isForPerson
        ? { reason, message: expect.stringContaining('the fix') as string, since: '2023-11-14T22:13:00.000Z', actions: [] }
        : undefined,
    )
    expect([answer, rule]).toEqual([
      expect.stringContaining(`held by ${reason}`),
      expect.not.stringContaining(reason.replace('CheckFailed', '?')),
    ])
    if (isForPerson) expect(next).toMatch(/rbac\./)
  })

  it('is Blocked while it waits for nodes only whose failures were accepted, and an abort ends that', () => {
    const facts = aReading(waitsFor('AcceptedFailed', { annotations: { 'rollouts.kruise.io/daemonset-partition': '3' } }))
    const { outcome, need } = summarizeRollout(facts)
    expect([outcome, need?.reason, need?.actions]).toEqual(['Blocked', 'AcceptedFailed', ['abort', 'undo']])
    expect(explainRollout(facts)).toMatchObject({ rule: 'Availability', next: expect.stringContaining('abort') })
  })

  it('is Blocked while executors do not delete the pods that they may delete, and no action helps', () => {
    const facts = aReading(waitsFor('NotDeleted'))
    const { outcome, need } = summarizeRollout(facts)
    expect([outcome, need?.reason, need?.actions]).toEqual(['Blocked', 'NotDeleted', []])
    expect(explainRollout(facts)).toMatchObject({ rule: 'NotDeleted', next: expect.stringContaining('executors delete the pods on c') })
  })

  it('names the abort while it waits for accepted nodes, too', () => {
    const failure = { reason: 'Accepted', message: '', nodes: [], release: 'r1', stops: false, accepted: ['a'] } as const
    const nextOf = (...nodes: readonly string[]): string | undefined => {
      const status = { waiting: { reason: 'NotAvailable', message: '', nodes, since }, failure }
      return explainRollout(aReading({ nodes: 'a:new! b:new! c:old', status })).next
    }
    expect([nextOf('a'), nextOf('a', 'b')]).toEqual([expect.stringContaining('; abort: '), expect.not.stringContaining('abort')])
  })

  it('names the annotation instead of the abort while the Rollout is disabled', () => {
    const failure = { reason: 'Accepted', message: '', nodes: [], release: 'r1', stops: false, accepted: ['a'] } as const
    const status = { waiting: { reason: 'NotAvailable', message: '', nodes: ['a'], since }, failure }
    const disabled = { rollout: { disabled: true }, rolloutStatus: { phase: 'Disabling' } } as const
    const { next } = explainRollout(aReading({ nodes: 'a:new! b:new! c:old', status, ...disabled }))
    expect(next).toMatch(/; tranche\.dev\/on-delete is Freeze: leave the nodes as they are, or Rollback$/)
  })

  it.each<[string, FactsFields, string, string | undefined]>([
    ['a newer reason', waitsFor('NewNotAllowed'), 'Running', undefined],
    [
      'a right among nodes that wait for other checks',
      waitsFor('NoRoom', blocked('NoRoom', 'DrainNotAllowed')),
      'Blocked',
      'DrainNotAllowed',
    ],
    ['other checks only', waitsFor('NoRoom', blocked('NoRoom', 'DrainBlocked')), 'Running', undefined],
    ['a right while other nodes proceed', waitsFor('Upgrading', blocked('DrainNotAllowed')), 'Running', undefined],
    [
      'a right that keeps broken pods, which use up the budget',
      waitsFor('BudgetUsedUp', blocked('RoomNotAllowed')),
      'Blocked',
      'RoomNotAllowed',
    ],
    ['a budget that other nodes use up', waitsFor('BudgetUsedUp', blocked('NoRoom')), 'Running', undefined],
    [
      'a right in a record that is stopped',
      waitsFor('NoRoom', { record: { ...blocked('DrainNotAllowed').record, state: 'stopped' } }),
      'Running',
      undefined,
    ],
    ['a right in a step that is paused', waitsFor('DrainNotAllowed', { rolloutStatus: pausedStep() }), 'Waiting', 'StepPaused'],
    [
      'a right, in a Rollout that is being deleted',
      waitsFor('DrainNotAllowed', { rolloutStatus: { phase: 'Terminating' } }),
      'Running',
      undefined,
    ],
    ['a right, in a release that is over', waitsFor('DrainNotAllowed', { rolloutStatus: { phase: 'Healthy' } }), 'Running', undefined],
  ])('is judged by what it waits for: %s', (_name, fields, outcome, reason) => {
    const summary = summarizeRollout(aReading(fields))
    expect([summary.outcome, summary.need?.reason]).toEqual([outcome, reason])
  })

  it.each([
    ['of the step, but not of a later one', 'a:old b:old c:old', ['abort', 'jump'], '; jump: continue at step 2'],
    ['also of the later steps', 'a:old b:old', ['abort'], ''],
  ])('is Blocked where the policy excludes every node %s', (_when, nodes, actions, jump) => {
    const exclude = [{ matchExpressions: [{ key: 'name', operator: 'In' as const, values: ['a', 'b'] }] }]
    const waiting = { reason: 'NodesExcluded', message: 'the policy excludes every node of the batch', nodes: ['a', 'b'], since }
    const steps = [{ matchExpressions: [{ key: 'name', operator: 'In' as const, values: ['a', 'b'] }] }, {}]
    const facts = aReading({ nodes, tranche: { nodes: { exclude, steps } }, status: { waiting } })
    expect(summarizeRollout(facts)).toMatchObject({ outcome: 'Blocked', need: { reason: 'NodesExcluded', actions } })
    const { rule, next } = explainRollout(facts)
    expect([rule, next]).toEqual([
      'Excluded',
      `the policy excludes fewer nodes, or their labels change: a, b; abort: roll back to the stable revision${jump}`,
    ])
  })

  it.each([
    [
      'counts',
      'a:old!? b:old!? c:old d:old e:old',
      '; dead nodes cost nothing once at most 1 are dead, or nodes.notReady.exempt is at least 2',
    ],
    ['costs nothing', 'a:old!? b:old! c:old d:old e:old', ''],
  ])('says what ends a wait for the budget where a dead node %s', (_what, nodes, more) => {
    const waiting = { reason: 'BudgetUsedUp', message: 'x', nodes: ['b'], since }
    const facts = aReading({ nodes, tranche: { nodes: { notReady: { exempt: 1 } } }, status: { waiting } })
    expect(explainRollout(facts).next).toBe(`fewer nodes are down; now down: b${more}`)
  })

  it('is Blocked where excluded nodes use up the budget, and no jump helps', () => {
    const exclude = [{ matchExpressions: [{ key: 'name', operator: 'In' as const, values: ['a', 'b'] }] }]
    const steps = [{ matchExpressions: [{ key: 'name', operator: 'In' as const, values: ['a', 'b', 'c'] }] }, {}]
    const waiting = { reason: 'NodesExcluded', message: 'maxUnavailable (2) is used up', nodes: ['a', 'b'], since }
    const facts = aReading({ nodes: 'a:old! b:old! c:old d:old e:old', tranche: { nodes: { exclude, steps } }, status: { waiting } })
    expect(summarizeRollout(facts)).toMatchObject({
      outcome: 'Blocked',
      message: expect.stringContaining('maxUnavailable (2) is used up'),
      need: { reason: 'NodesExcluded', actions: ['abort'] },
    })
    expect(explainRollout(facts).next).toBe(
      'the policy excludes fewer nodes, or their labels change: a, b; abort: roll back to the stable revision',
    )
  })

  describe('after a rollback', () => {
    const rolledBack = (nodes: string, reason: 'Aborted' | 'Failed' = 'Failed'): ReleaseFacts => {
      const exclude = [{ matchExpressions: [{ key: 'name', operator: 'In' as const, values: ['a', 'b'] }] }]
      const waiting = { reason: 'NodesLeft', message: 'x', nodes: ['a', 'b'], since }
      return aReading({
        nodes,
        tranche: { nodes: { exclude } },
        spec: { batchPartition: undefined },
        record: { size: 5, partition: 0 },
        status: { phase: 'Finalizing', waiting },
        rolloutStatus: { phase: 'Healthy', message: '', heldRevisions: [{ digest: 'd', revision: 'bad', reason }] },
      })
    }

    it('needs a person where excluded nodes keep the version that failed', () => {
      const facts = rolledBack('a:bad! b:bad! c:new d:new e:new')
      expect(summarizeRollout(facts).need).toEqual({
        reason: 'NodesExcluded',
        message: 'nodes that the policy excludes keep revision bad, which is blocked (a, b): exclude fewer nodes, or delete their pods',
        actions: [],
      })
      expect(explainNode(facts, 'a')).toMatchObject({
        rule: 'Excluded',
        answer: expect.stringContaining('so the release leaves it on revision bad, which is blocked, where its pod is not ready'),
        next: 'the labels of the node or the policy change, or its pod is deleted',
      })
    })

    it.each([
      ['where their pods run a version that failed', 'a:bad b:old c:new d:new e:new', 'Failed', 'NodesExcluded'],
      ['where the pods of an aborted version are not ready', 'a:bad! b:old c:new d:new e:new', 'Aborted', 'NodesExcluded'],
      ['but not where the pods of an aborted version run', 'a:bad b:old c:new d:new e:new', 'Aborted', undefined],
      ['but not where they run another version', 'a:old! b:old c:new d:new e:new', 'Failed', undefined],
    ] as const)('needs a person %s', (_where, nodes, reason, need) => {
      expect(summarizeRollout(rolledBack(nodes, reason)).need?.reason).toBe(need)
    })
  })

  it('names the other parts of the policy that are not allowed either', () => {
    const unusable = ['RoomNotAllowed', 'DrainNotAllowed', 'SecretMissing', 'DowntimeNotAllowed', 'FromANewerVersion']
    const facts = aReading(
      waitsFor('DrainNotAllowed', { rolloutStatus: { policy: { name: 'careful', generation: 1, message: 'x', unusable } } }),
    )
    const { message, need } = summarizeRollout(facts)
    expect(need?.message).toBe(message)
    expect(message).toMatch(/the fix.*; not allowed either: nodes\.room, downtime\.perDay \(tranche doctor shows the values to set\)$/)
  })

  it('names the missing right as the next event of a node of a later batch', () => {
    const facts = aReading(waitsFor('DrainNotAllowed', blocked('DrainNotAllowed')))
    expect(explainNode(facts, 'e')?.next).toBe('the installation lists the namespace in rbac.drain.namespaces, or the policy has no drain')
  })
})

function pausedStep(): NonNullable<FactsFields['rolloutStatus']> {
  const { canaryStatus } = aReading().rollout.status ?? {}
  const waitingFor: WaitingFor = { reason: 'DrainNotAllowed', message: 'no right', nodes: [], since }
  return { waitingFor, ...(canaryStatus !== undefined && { canaryStatus: { ...canaryStatus, currentStepState: 'StepPaused' } }) }
}
