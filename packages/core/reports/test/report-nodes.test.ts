import type { FailedNode } from '@tranche/api-schema'
import { explainNode, reportNodes, reportRollout } from '@tranche/reports'
import { describe, expect, it } from 'vitest'
import { aReading, type FactsFields } from './build-facts.ts'

const crashing = { ready: false, trouble: { reason: 'CrashLoopBackOff', container: 'agent', exitCode: 1, message: 'no such file' } }
const excluded = { nodes: { exclude: [{ matchLabels: { name: 'a' } }] } }

describe('the state of a node in a release', () => {
  it.each<[string, FactsFields, object]>([
    ['old: an available pod of the stable revision', { nodes: 'a:old' }, { state: 'old', role: 'stable', revision: 'old', pod: 'pod-a' }],
    ['updated: an available pod of the canary revision', { nodes: 'a:new' }, { state: 'updated', role: 'canary' }],
    ['old: an available pod of a revision in between', { nodes: 'a:older' }, { state: 'old', role: 'superseded' }],
    ['down: an old pod that is not available', { nodes: 'a:old!' }, { state: 'down', role: 'stable', why: 'the pod is not Ready' }],
    ['updating: no pod', { nodes: 'a:-' }, { state: 'updating', role: 'none', why: 'the node has no pod yet' }],
    ['updating: a terminating pod', { nodes: 'a:old~' }, { state: 'updating', role: 'stable', why: 'the pod is terminating' }],
    [
      'updating: a terminating pod that finalizers block',
      { nodes: 'a:old~', change: { a: { pod: { keptBy: ['example.com/keep'] } } } },
      { state: 'updating', why: 'finalizers block the deletion of the pod: example.com/keep' },
    ],
    [
      'updating: a new pod that starts',
      { nodes: 'a:new!', change: { a: { pod: { phase: 'Pending' } } } },
      { state: 'updating', role: 'canary', why: 'the pod is starting', since: '2023-11-14T22:13:00Z' },
    ],
    [
      'updating: a new pod that cannot be scheduled',
      { nodes: 'a:new!', change: { a: { pod: { trouble: { reason: 'Unschedulable', message: 'Insufficient cpu' } } } } },
      { state: 'updating', why: 'Unschedulable: Insufficient cpu' },
    ],
    [
      'updating: Ready for less than minReadySeconds',
      { nodes: 'a:new', daemonSet: { minReadySeconds: 101 } },
      { state: 'updating', why: 'Ready, but not yet for minReadySeconds (101)' },
    ],
    [
      'failing: a container of the new pod does not run',
      { nodes: 'a:new!', change: { a: { pod: { ...crashing, restarts: 3 } } } },
      { state: 'failing', role: 'canary', why: 'CrashLoopBackOff: container agent, exit code 1: no such file', restarts: 3 },
    ],
    [
      'failing: a container of the old pod does not run',
      { nodes: 'a:old!', change: { a: { pod: crashing } } },
      { state: 'failing', role: 'stable' },
    ],
    [
      'failing: it counts as a failure of the new version, though its pod is Ready just now',
      { nodes: 'a:new', status: failed({ node: 'a', reason: 'TooManyRestarts', container: 'agent', restarts: 7 }) },
      { state: 'failing', why: 'TooManyRestarts: container agent' },
    ],
    [
      'not failing: it failed in another release',
      { nodes: 'a:new', status: failed({ node: 'a', reason: 'TooManyRestarts' }, 'r0') },
      { state: 'updated' },
    ],
    ['notReady: the kubelet does not respond', { nodes: 'a:old?' }, { state: 'notReady', why: 'its kubelet does not respond (NotReady)' }],
    ['notReady: the kubelet responds', { nodes: 'a:new¿' }, { state: 'notReady', why: 'the node is NotReady' }],
    ['excluded by the policy', { nodes: 'a:old', tranche: excluded }, { state: 'excluded', why: 'excluded by the policy' }],
    ['updated: excluded, but updated by another client', { nodes: 'a:new', tranche: excluded }, { state: 'updated' }],
  ])('is %s', (_name, fields, expected) => {
    const facts = aReading({ ...fields, tranche: { release: 'r1', canaryRevision: 'new', stableRevision: 'old', ...fields.tranche } })
    expect(reportNodes(facts)).toEqual([expect.objectContaining({ name: 'a', ...expected })])
  })

  it('names the zone of a node, the batch that updated it, and since when it has been so', () => {
    const facts = aReading({
      nodes: 'a:new b:old',
      change: {
        a: { labels: { 'topology.kubernetes.io/zone': 'eu-1a' }, pod: { rolloutBatchId: '1', readyStamp: '2023-11-14T22:13:09Z' } },
        b: { labels: { 'failure-domain.beta.kubernetes.io/zone': 'eu-1b' }, pod: { rolloutBatchId: '3' } },
      },
    })
    expect(reportNodes(facts)).toEqual([
      expect.objectContaining({ zone: 'eu-1a', batch: 1, since: '2023-11-14T22:13:09Z' }),
      expect.not.objectContaining({ batch: 3 }),
    ])
  })

  it('reports since when an unhealthy node has been down, from the status of the release', () => {
    const watchedNodes = [{ node: 'a', since: '2023-11-14T22:10:00Z', downSince: '2023-11-14T22:11:00Z' }]
    const facts = aReading({ nodes: 'a:new!', status: { watchedNodes } })
    expect(reportNodes(facts)).toEqual([expect.objectContaining({ state: 'updating', since: '2023-11-14T22:11:00Z' })])
  })

  it('reports the deadline only of nodes without an available pod', () => {
    const watchedNodes = [{ node: 'a', since: '2023-11-14T22:10:00Z', downSince: '2023-11-14T22:11:00.400Z' }]
    const stoppedTime = { release: 'r1', startedAt: '2023-11-14T22:00:00Z', seconds: 30 }
    const tranche = { release: 'r1', canaryRevision: 'new', stableRevision: 'old', failure: { progressDeadlineSeconds: 300 } }
    const facts = aReading({ nodes: 'a:new! b:new c:old!', tranche, status: { watchedNodes, stoppedTime } })
    const [a, ...others] = reportNodes(facts)
    expect(a).toMatchObject({ name: 'a', failsAt: '2023-11-14T22:16:31.000Z' })
    expect(explainNode(facts, 'a')?.facts).toContainEqual({ name: 'must be available by', value: '2023-11-14T22:16:31.000Z' })
    for (const other of others) expect(other).not.toHaveProperty('failsAt')
  })

  it('reports no deadline that moves with the clock: the node has no pod, and no controller has recorded since when', () => {
    const tranche = { release: 'r1', canaryRevision: 'new', stableRevision: 'old' }
    const stoppedTime = { release: 'r1', startedAt: '2023-11-14T22:00:00Z', seconds: 0 }
    const [a, b] = reportNodes(aReading({ nodes: 'a:- b:new!', tranche, status: { stoppedTime } }))
    expect(a).not.toHaveProperty('failsAt')
    expect(b).toMatchObject({ failsAt: '2023-11-14T22:23:00.000Z' })
  })

  it('lists a node that was lost after its update as failing, though the DaemonSet is not desired there, in its zone too', () => {
    const lost = { ready: false, answers: false, desired: false, desiredOnReturn: true as const }
    const tranche = { release: 'r1', canaryRevision: 'new', stableRevision: 'old' }
    const status = failed({ node: 'a', reason: 'NodeNotReady', message: 'the node became NotReady' })
    const facts = aReading({ nodes: 'a:new! b:old', change: { a: lost }, tranche, status })
    expect(reportNodes(facts)).toMatchObject([
      { name: 'a', state: 'failing', why: 'NodeNotReady: the node became NotReady' },
      { name: 'b' },
    ])
    expect(reportRollout(facts)).toMatchObject({ nodes: { failed: 1 }, zones: [{ states: { failing: 1, old: 1 } }] })
  })

  it('omits a dead node that was not updated and is not desired', () => {
    const dead = { ready: false, answers: false, desired: false, desiredOnReturn: true as const }
    expect(reportNodes(aReading({ nodes: 'a:old! b:old', change: { a: dead } }))).toHaveLength(1)
  })

  it('omits nodes on which the DaemonSet does not run', () => {
    expect(reportNodes(aReading({ nodes: 'a:old b:old', change: { b: { desired: false } } }))).toHaveLength(1)
  })
})

function failed(node: FailedNode, release = 'r1'): NonNullable<FactsFields['status']> {
  const failure = { reason: 'ReleaseFailed', message: '1 node failed', nodes: [node.node], count: 1, failedNodes: [node], release }
  return { failure }
}
