import type { NodeSelector, Permit } from '@tranche/api-schema'
import { toFleetView } from '@tranche/fleet'
import { batchProgress, type BatchQuestion, batchSize } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aFleetPod, nodes } from '../../../../../test/fakes/build-view.ts'

const named = (...values: readonly string[]): NodeSelector => ({ matchExpressions: [{ key: 'name', operator: 'In', values }] })

/** First node a, then half of a, b and c, then every node. */
const canaryStep: Partial<BatchQuestion> = {
  nodes: { steps: [named('a'), named('b', 'c'), {}] },
  plan: {
    batches: [{ canaryReplicas: '100%' }, { canaryReplicas: '50%' }, { canaryReplicas: '100%' }],
    enableExtraWorkloadForCanary: false,
  },
}

const base: BatchQuestion = {
  fleet: nodes('a:old b:old c:old d:old'),
  revision: 'new',
  plan: { batches: [{ canaryReplicas: '50%' }, { canaryReplicas: '100%' }], enableExtraWorkloadForCanary: false },
  batch: 0,
  minReadyMs: 0,
  monotonicMs: 100_000,
}

describe('batchProgress', () => {
  it('counts the same nodes again once time alone has made a pod available (G6)', () => {
    const fleet = nodes('a:new b:new c:old d:old')
    const at = (monotonicMs: number): number => batchProgress({ ...base, fleet, minReadyMs: 150_000, monotonicMs }).updatedAvailable
    expect([at(100_000), at(149_999), at(150_000)]).toEqual([0, 0, 2])
  })

  const cases: Record<string, { question: Partial<BatchQuestion>; want: object }> = {
    'takes the nodes of the step, and is ready when they are updated': {
      question: { ...canaryStep, fleet: nodes('a:new b:old c:old d:old') },
      want: { size: 1, partition: 3, effectiveSize: 1, state: 'Ready', old: ['b', 'c', 'd'], skipped: [] },
    },
    'waits for the nodes of the step, however many others were updated by other clients': {
      question: { ...canaryStep, fleet: nodes('a:old b:new c:new d:old') },
      want: { size: 3, partition: 1, effectiveSize: 3, state: 'Upgrading' },
    },
    'counts a percentage of the nodes that the steps so far take': {
      question: { ...canaryStep, batch: 1, fleet: nodes('a:new b:old c:old d:old') },
      want: { size: 2, partition: 2, state: 'Upgrading' },
    },
    'takes every node in the end': {
      question: { ...canaryStep, batch: null, fleet: nodes('a:new b:new c:old d:old') },
      want: { size: 4, partition: 0, effectiveSize: 4, state: 'Upgrading' },
    },
    'skips no NotReady node of a later step': {
      question: { ...canaryStep, fleet: nodes('a:new b:old? c:old d:old') },
      want: { effectiveSize: 1, skipped: [], state: 'Ready' },
    },
    'is ready without excluded nodes': {
      question: { batch: 1, nodes: { exclude: [named('c', 'd')] }, fleet: nodes('a:new b:new c:old d:old') },
      want: { size: 4, effectiveSize: 2, excluded: ['c', 'd'], skipped: [], state: 'Ready' },
    },
    'waits for NotReady nodes where the policy requires it': {
      question: { batch: 1, nodes: { notReady: { action: 'Wait' } }, fleet: nodes('a:new b:new c:new d:old?') },
      want: { size: 4, effectiveSize: 4, skipped: [], waitedFor: ['d'], state: 'Upgrading' },
    },
    'does not count exempt dead nodes as unavailable': {
      question: { nodes: { notReady: { exempt: 2 } }, fleet: nodes('a:old!? b:old!? c:old! d:old') },
      want: { unavailable: ['c'] },
    },
    'is ready without a dead node that a rollback had updated': {
      question: { batch: 0, stable: 'new', begunAt: '2023-11-14T22:12:00Z', fleet: nodes('a:new!? b:new c:old d:old') },
      want: { size: 2, effectiveSize: 1, updatedAvailable: 1, state: 'Ready' },
    },
    'waits for another node in the place of a dead one that a rollback found on the revision': {
      question: { batch: 0, stable: 'new', begunAt: '2023-11-14T22:14:00Z', fleet: nodes('a:new!? b:new c:old d:old') },
      want: { size: 2, effectiveSize: 2, updatedAvailable: 1, state: 'Upgrading' },
    },
    'counts all dead nodes as unavailable if more are dead than the policy exempts': {
      question: { nodes: { notReady: { exempt: 1 } }, fleet: nodes('a:old!? b:old!? c:old! d:old') },
      want: { unavailable: ['a', 'b', 'c'] },
    },
    'counts a dead node that an earlier release took down as unavailable, and exempts the others while they are few with it': {
      question: { nodes: { notReady: { exempt: 2 } }, fleet: nodes('a:old!? b:old!? c:old d:old'), permits: [inFlight('a')] },
      want: { unavailable: ['a'], exemption: expect.objectContaining({ dead: ['b'], names: new Set(['b']) }) },
    },
    'counts all dead nodes as unavailable if more are dead with one that an earlier release took down': {
      question: { nodes: { notReady: { exempt: 1 } }, fleet: nodes('a:old!? b:old!? c:old d:old'), permits: [inFlight('a')] },
      want: { unavailable: ['a', 'b'], exemption: expect.objectContaining({ dead: ['a', 'b'], names: new Set() }) },
    },
    'is upgrading while nodes are missing': {
      question: {},
      want: { size: 2, partition: 2, effectiveSize: 2, updated: 0, state: 'Upgrading' },
    },
    'is ready when as many nodes as the size are updated and available': {
      question: { fleet: nodes('a:new b:new c:old d:old') },
      want: { updated: 2, updatedReady: 2, updatedAvailable: 2, state: 'Ready', old: ['c', 'd'] },
    },
    'is verifying while an updated node is not available': {
      question: { fleet: nodes('a:new b:new! c:old d:old') },
      want: { updated: 2, updatedReady: 1, updatedAvailable: 1, state: 'Verifying', unavailable: ['b'] },
    },
    'needs pods that are available, not only Ready': {
      question: { fleet: nodes('a:new b:new c:old d:old'), minReadyMs: 100_001 },
      want: { updatedReady: 2, updatedAvailable: 0, state: 'Verifying' },
    },
    'counts a pod as available at the very end of minReadySeconds': {
      question: { fleet: nodes('a:new b:new c:old d:old'), minReadyMs: 100_000 },
      want: { updatedAvailable: 2, state: 'Ready' },
    },
    'counts a node between two pods as being updated': {
      question: { fleet: nodes('a:new b:old~ c:- d:old') },
      want: { updated: 1, between: ['b', 'c'], old: ['d'], state: 'Verifying' },
    },
    'does not count a node as updated while it also runs another pod': {
      question: { fleet: withTwoPods() },
      want: { updated: 0, old: ['a'] },
    },
    'skips NotReady nodes with an old pod': {
      question: { batch: 1, fleet: nodes('a:new b:new c:new d:old?') },
      want: { size: 4, effectiveSize: 3, skipped: ['d'], old: ['d'], state: 'Ready' },
    },
    'does not skip a NotReady node whose kubelet answers and that runs a superseded revision': {
      question: { batch: 1, stable: 'old', fleet: nodes('a:new b:new c:old¿ d:bad¿ e:bad?') },
      want: { size: 5, effectiveSize: 3, skipped: ['c', 'e'], old: ['c', 'd', 'e'], state: 'Upgrading' },
    },
    'waits for no NotReady node that can be taken': {
      question: { batch: 1, stable: 'old', nodes: { notReady: { action: 'Wait' } }, fleet: nodes('a:new b:old¿ c:bad¿') },
      want: { skipped: [], waitedFor: ['b'] },
    },
    'is not ready where every node of the step is NotReady, and names them (G6)': {
      question: { ...canaryStep, stable: 'old', fleet: nodes('a:old? b:old c:old d:old') },
      want: { size: 1, effectiveSize: 0, outOfReach: ['a'], state: 'Upgrading' },
    },
    'is not ready where the policy excludes every node (G6)': {
      question: { batch: null, nodes: { exclude: [named('a', 'b', 'c', 'd')] } },
      want: { effectiveSize: 0, outOfReach: [], excluded: ['a', 'b', 'c', 'd'], state: 'Upgrading' },
    },
    'is not ready where all nodes are dead, and another client deleted some of their pods (G6)': {
      question: { batch: null, stable: 'old', nodes: { notReady: { exempt: 2 } }, fleet: nodes('a:old!? b:old~?') },
      want: { effectiveSize: 0, outOfReach: ['a', 'b'], state: 'Upgrading' },
    },
    'is not ready where dead nodes are all that is left, and they are not desired because they are dead (G6)': {
      question: { batch: null, stable: 'old', fleet: undesired('a:old? b:old?') },
      want: { desired: 0, size: 0, outOfReach: ['a', 'b'], state: 'Upgrading' },
    },
    'is not ready where they are not desired because they are dead, and another client deleted their pods (G6)': {
      question: { batch: null, stable: 'old', fleet: undesired('a:old~? b:old?') },
      want: { desired: 0, size: 0, outOfReach: ['a', 'b'], state: 'Upgrading' },
    },
    'is not ready where they are not desired because they are dead, and their pods are gone (G6)': {
      question: { batch: null, stable: 'old', fleet: undesired('a:-? b:-?') },
      want: { desired: 0, size: 0, outOfReach: ['a', 'b'], state: 'Upgrading' },
    },
    'is not ready where they are not desired because they died after their update (G6)': {
      question: { batch: null, stable: 'old', fleet: undesired('a:new? b:new~?') },
      want: { desired: 0, size: 0, outOfReach: ['a', 'b'], state: 'Upgrading' },
    },
    'is not ready where they are back, and the taint for their failure is not gone yet (G6)': {
      question: { batch: null, stable: 'old', fleet: undesired('a:old b:-') },
      want: { desired: 0, size: 0, outOfReach: ['a', 'b'], state: 'Upgrading' },
    },
    'is not ready where all desired nodes are excluded, and dead ones are not desired (G6)': {
      question: {
        batch: null,
        stable: 'old',
        nodes: { exclude: [named('b')] },
        fleet: toFleetView([...undesired('a:-?').nodes, ...nodes('b:old').nodes]),
      },
      want: { desired: 1, effectiveSize: 0, outOfReach: ['a'], excluded: ['b'], state: 'Upgrading' },
    },
    'is not ready where all nodes of the step are not desired because they are dead (G6)': {
      question: { ...canaryStep, stable: 'old', fleet: toFleetView([...undesired('a:old?').nodes, ...nodes('b:old c:old d:old').nodes]) },
      want: { size: 0, outOfReach: ['a'], state: 'Upgrading' },
    },
    'is not ready where all nodes of the step are not desired because they are dead, and their pods are gone (G6)': {
      question: { ...canaryStep, stable: 'old', fleet: toFleetView([...undesired('a:-?').nodes, ...nodes('b:old c:old d:old').nodes]) },
      want: { size: 0, outOfReach: ['a'], state: 'Upgrading' },
    },
    'is ready where all nodes of the step are dead without pods, and another node runs the revision': {
      question: { ...canaryStep, stable: 'old', fleet: toFleetView([...undesired('a:-?').nodes, ...nodes('b:new c:old d:old').nodes]) },
      want: { size: 1, effectiveSize: 1, state: 'Ready' },
    },
    'is ready where dead nodes without pods are beside nodes that run the revision': {
      question: { batch: null, stable: 'old', fleet: toFleetView([...undesired('a:-?').nodes, ...nodes('b:new c:new').nodes]) },
      want: { desired: 2, size: 2, effectiveSize: 2, state: 'Ready' },
    },
    'is ready where dead nodes without pods are all that is left on the way back to the stable revision': {
      question: { batch: null, stable: 'new', fleet: undesired('a:-? b:bad?') },
      want: { desired: 0, size: 0, state: 'Ready' },
    },
    'is ready where all nodes that are dead and not desired belong to later steps': {
      question: { ...canaryStep, stable: 'old', fleet: undesired('b:old? c:-?') },
      want: { size: 0, state: 'Ready' },
    },
    'is ready where the policy excludes all nodes that are dead and not desired': {
      question: { batch: null, nodes: { exclude: [named('a', 'b')] }, fleet: undesired('a:old? b:-?') },
      want: { size: 0, state: 'Ready' },
    },
    'is ready where no node is desired, and those with old pods are excluded by a taint of a user or were deleted': {
      question: { batch: null, fleet: excluded('a:old b:old?') },
      want: { size: 0, state: 'Ready' },
    },
    'is ready where a step adds only NotReady nodes, and a node of an earlier one runs the revision': {
      question: { ...canaryStep, batch: 1, fleet: nodes('a:new b:old? c:old? d:old') },
      want: { effectiveSize: 1, skipped: ['b', 'c'], state: 'Ready' },
    },
    'is ready where the nodes of the step are NotReady, and another node runs the revision': {
      question: { ...canaryStep, fleet: nodes('a:old? b:new c:old d:old') },
      want: { effectiveSize: 1, skipped: ['a'], state: 'Ready' },
    },
    'is ready where no node is in reach on the way back to the stable revision': {
      question: { batch: null, stable: 'new', fleet: nodes('a:bad? b:bad?') },
      want: { effectiveSize: 0, skipped: ['a', 'b'], state: 'Ready' },
    },
    'is ready where the step takes no node': {
      question: { ...canaryStep, fleet: nodes('b:old c:old d:old') },
      want: { size: 0, effectiveSize: 0, state: 'Ready' },
    },
    'keeps the size where other nodes make up for the skipped ones': {
      question: { fleet: nodes('a:new b:new c:old? d:old') },
      want: { size: 2, effectiveSize: 2, skipped: ['c'], state: 'Ready' },
    },
    'is ready without a node that died between two pods, and names it': {
      question: { fleet: nodes('a:new b:old~? c:old d:old'), permits: [inFlight('b')] },
      want: { size: 2, effectiveSize: 2, between: ['b'], away: ['b'], state: 'Ready' },
    },
    'waits for a node between two pods whose kubelet answers': {
      question: { fleet: nodes('a:new b:old~ c:old d:old') },
      want: { away: [], state: 'Verifying' },
    },
    'takes another node for a dead one whose pod another client deleted': {
      question: { fleet: nodes('a:new b:old~? c:old d:old') },
      want: { size: 2, effectiveSize: 2, between: [], away: [], waitedFor: [], state: 'Upgrading' },
    },
    'waits for a dead node whose pod another client deleted, where the policy says so': {
      question: { fleet: nodes('a:new b:old~?'), batch: null, nodes: { notReady: { action: 'Wait' } } },
      want: { effectiveSize: 2, waitedFor: ['b'], state: 'Upgrading' },
    },
    'is ready beside a dead node that has run the revision since it was stable': {
      question: { fleet: nodes('a:new b:new!? c:new'), stable: 'new', batch: null },
      want: { effectiveSize: 2, unwell: [], unavailable: [], state: 'Ready' },
    },
    'is not ready on dead nodes alone': {
      question: {
        permits: [inFlight('a')],
        fleet: nodes('a:old~? b:old c:old d:old'),
        plan: { batches: [{ canaryReplicas: 1 }], enableExtraWorkloadForCanary: false },
      },
      want: { size: 1, away: ['a'], state: 'Verifying' },
    },
    'takes the size of an earlier step where percentages and whole numbers have crossed': {
      question: { batch: 1, plan: { batches: [{ canaryReplicas: 3 }, { canaryReplicas: '50%' }], enableExtraWorkloadForCanary: false } },
      want: { size: 3 },
    },
    'skips no NotReady node that is updated': {
      question: { batch: 1, fleet: nodes('a:new b:new c:new d:new?') },
      want: { effectiveSize: 4, skipped: [], state: 'Ready' },
    },
    'tolerates as many nodes as failureThreshold allows': {
      question: { plan: tolerating(1), batch: 1, fleet: nodes('a:new b:new c:new d:new!') },
      want: { state: 'Ready' },
    },
    'tolerates no node that was not updated': {
      question: { plan: tolerating(1), batch: 1, fleet: nodes('a:new b:new c:new d:old') },
      want: { state: 'Upgrading' },
    },
    'rounds a percent failureThreshold up, of the effective size': {
      question: { plan: tolerating('26%'), batch: 1, fleet: nodes('a:new b:new c:new! d:new!') },
      want: { state: 'Ready' },
    },
    'never tolerates the last node of a batch': {
      question: { plan: tolerating('100%'), batch: 1, fleet: nodes('a:new! b:new! c:new! d:new!') },
      want: { state: 'Verifying' },
    },
    'is ready with one available node in a batch that is tolerated as a whole': {
      question: { plan: tolerating(9), batch: 1, fleet: nodes('a:new b:new! c:new! d:new!') },
      want: { state: 'Ready' },
    },
    'counts all nodes without a batch': {
      question: { batch: null },
      want: { size: 4, partition: 0 },
    },
    'has size 0 where the batch is outside the plan': {
      question: { batch: 7 },
      want: { size: 0, partition: 4, state: 'Ready' },
    },
    'is ready with zero desired nodes': {
      question: { fleet: nodes('') },
      want: { desired: 0, size: 0, partition: 0, effectiveSize: 0, state: 'Ready' },
    },
    'ignores nodes that are not desired': {
      question: {
        fleet: toFleetView([...nodes('a:old').nodes, ...nodes('b:old').nodes.map((node) => ({ ...node, desired: false }))]),
      },
      want: { desired: 1, size: 1, old: ['a'] },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { question, want }) => {
    const progress = batchProgress({ ...base, ...question })
    expect(progress).toMatchObject(want)
    expect('outOfReach' in progress).toBe('outOfReach' in want)
  })
})

describe('batchSize', () => {
  const plan = (size: number | string): BatchQuestion['plan'] => ({ ...base.plan, batches: [{ canaryReplicas: size }] })
  it.each([
    ['rounds a percentage up', '1%', 4, 1],
    ['rounds a percentage up just above a whole number', '26%', 4, 2],
    ['keeps a whole number as it is', 3, 4, 3],
    ['clamps a whole number to the desired nodes', 9, 4, 4],
    ['is all of them with 100%', '100%', 7, 7],
    ['is 0 for an invalid size', 'many', 4, 0],
  ])('%s', (_name, size, desired, want) => {
    expect(batchSize(plan(size), 0, desired)).toBe(want)
  })
})

/** A permit of the node whose pod is gone. */
function inFlight(node: string): Permit {
  return { node, podUid: `gone-${node}`, podResourceVersion: '1' }
}

/** Nodes that a taint for their failure keeps from being desired. */
function undesired(text: string): BatchQuestion['fleet'] {
  return toFleetView(nodes(text).nodes.map((node) => ({ ...node, desired: false, desiredOnReturn: true })))
}

/** Nodes that are not desired for another reason, so that they stay undesired. */
function excluded(text: string): BatchQuestion['fleet'] {
  return toFleetView(nodes(text).nodes.map((node) => ({ ...node, desired: false })))
}

function tolerating(failureThreshold: number | string): BatchQuestion['plan'] {
  return { ...base.plan, failureThreshold }
}

function withTwoPods(): BatchQuestion['fleet'] {
  const [node] = nodes('a:old').nodes
  return toFleetView([{ ...node!, pods: [aFleetPod('a', 'new'), aFleetPod('a', 'old', { uid: 'second' })] }])
}
