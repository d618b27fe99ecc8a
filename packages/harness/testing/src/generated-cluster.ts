import type { FlightRecord, Permit } from '@tranche/api-schema'
import type { Node, Pod, Taint } from '@tranche/kube-types'
import fc from 'fast-check'
import { aNode } from './build-node.ts'
import { aPod } from './build-pod.ts'
import { aPermit, aRecord } from './build-record.ts'

/** Pod, and for how long a process has seen it unchanged. */
export interface SeenPod {
  readonly pod: Pod
  /** Milliseconds (≥ 0). */
  readonly seenForMs: number
}

/** Cluster during a release, as one process might see it. */
export interface GeneratedCluster {
  readonly nodes: readonly Node[]
  readonly pods: readonly SeenPod[]
  /** Record for revision `new`, with permits in every state, on nodes in every state. */
  readonly record: FlightRecord
  /** `spec.minReadySeconds`; above 0, some Ready pods are not available yet. */
  readonly minReadySeconds: number
  /** `maxUnavailable` as a user might write it; the record's limit may differ from it. */
  readonly maxUnavailable: number | string
  /** Cumulative batch sizes; they are meant to grow but need not. One of them is in progress. */
  readonly batches: readonly (number | string)[]
}

/**
 * Clusters of up to ten nodes, sometimes up to 24, in every state that a release can meet. They cover:
 *
 * - pods that are available, Ready for too short, not Ready, pending, not scheduled, crashing, failed, terminating, kept by a finalizer
 *   alone, missing, doubled or misscheduled;
 * - revisions `new`, `old` and `older`, one without a ControllerRevision, and none;
 * - nodes that are NotReady, dead, in maintenance, cordoned, tainted or gone;
 * - a record with permits that are valid, dead, not yet seen, executed, or for missing nodes.
 */
export function generatedClusters(): fc.Arbitrary<GeneratedCluster> {
  return fc
    .record({
      slots: fc.oneof(
        { arbitrary: fc.array(slot, { minLength: 1, maxLength: 10 }), weight: 9 },
        { arbitrary: fc.array(slot, { minLength: 11, maxLength: 24 }), weight: 1 },
      ),
      limit: fc.integer({ min: 1, max: 5 }),
      partition: fc.constantFrom(0, 0, 0, 0, 1, 2, 3, 5),
      minReadySeconds: fc.constantFrom(0, 0, 60),
      maxUnavailable: fc.oneof(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 100 }).map((share) => `${share}%`),
      ),
      batches: fc.array(
        fc.oneof(
          fc.integer({ min: 1, max: 12 }),
          fc.integer({ min: 1, max: 100 }).map((share) => `${share}%`),
        ),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
    })
    .map(toCluster)
}

/** State of a node for the DaemonSet. It does not want tainted and missing nodes, though they may still have pods. */
const nodeStates = ['ready', 'notReady', 'tainted', 'gone', 'dead', 'cordoned', 'maintenance'] as const
const podStates = ['available', 'fresh', 'notReady', 'pending', 'crashing', 'failed', 'terminating', 'unscheduled', 'stuck'] as const
const permitKinds = ['none', 'standing', 'dead', 'unseen', 'executed'] as const

const podShape = fc.record({
  state: weighted(podStates, [12, 2, 4, 2, 2, 2, 3, 1, 1]),
  hash: weighted(['old', 'new', 'older', 'unknown', null], [12, 6, 4, 1, 1]),
  age: fc.nat(3),
  version: fc.integer({ min: 5, max: 1_200 }),
  permit: weighted(permitKinds, [5, 5, 1, 1, 2]),
})

const slot = fc.record({
  node: weighted(nodeStates, [30, 3, 2, 2, 1, 1, 2]),
  pods: fc.oneof(
    { arbitrary: fc.array(podShape, { maxLength: 0 }), weight: 2 },
    { arbitrary: fc.array(podShape, { minLength: 1, maxLength: 1 }), weight: 14 },
    { arbitrary: fc.array(podShape, { minLength: 2, maxLength: 2 }), weight: 1 },
  ),
  /** Permit for a pod that no longer exists. */
  executed: weighted([false, true], [4, 1]),
  /** Position of its permits in the record. */
  place: fc.nat(1_000),
})

type PodShape = typeof podShape extends fc.Arbitrary<infer Shape> ? Shape : never
type Slot = typeof slot extends fc.Arbitrary<infer Shape> ? Shape : never

interface ClusterShape {
  readonly slots: readonly Slot[]
  readonly limit: number
  readonly partition: number
  readonly minReadySeconds: number
  readonly maxUnavailable: number | string
  readonly batches: readonly (number | string)[]
}

function toCluster({ slots, limit, partition, ...rest }: ClusterShape): GeneratedCluster {
  const named = slots.map((shape, at) => ({ ...shape, name: `node-${at}` }))
  const desired = named.filter(({ node }) => node !== 'gone' && node !== 'tainted').length
  const pods = named.flatMap((shape) =>
    shape.pods.map((pod, at) => ({ shape: pod, place: shape.place, seen: toSeenPod(shape.name, pod, at) })),
  )
  const permits = [
    ...pods.flatMap(({ shape, place, seen }) => permitFor(shape.permit, seen.pod).map((permit) => ({ place, permit }))),
    ...named.flatMap(({ name, place, executed }) =>
      executed ? [{ place: place / 2, permit: { node: name, podUid: `gone-${name}`, podResourceVersion: '4' } }] : [],
    ),
  ]
  return {
    nodes: named.flatMap(({ name, node }) => toNodes(name, node)),
    pods: pods.map(({ seen }) => seen),
    record: aRecord({
      limit,
      size: Math.max(0, desired - partition),
      partition,
      watermark: '3',
      permits: permits.sort((a, b) => a.place - b.place).map(({ permit }) => permit),
    }),
    ...rest,
  }
}

function toNodes(name: string, state: (typeof nodeStates)[number]): readonly Node[] {
  if (state === 'gone') return []
  const health = { ready: state !== 'notReady' && state !== 'dead', answers: state !== 'dead' }
  return [aNode(name, { taints: taintsOf(state), ...health, ...(state === 'maintenance' && { maintenance: 'DrainInProgress' }) })]
}

/** A DaemonSet tolerates the taints that Kubernetes adds to dead and cordoned nodes. */
function taintsOf(state: (typeof nodeStates)[number]): readonly Taint[] {
  if (state === 'tainted') return [{ key: 'dedicated', value: 'other', effect: 'NoSchedule' }]
  if (state === 'cordoned') return [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }]
  return state === 'dead' ? [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] : []
}

function toSeenPod(node: string, { state, hash, age, version }: PodShape, at: number): SeenPod {
  const pod = aPod({
    node,
    name: `${node}-pod-${at}`,
    hash,
    resourceVersion: String(version),
    createdAt: `2026-01-01T00:0${age}:00Z`,
    terminating: state === 'terminating' || state === 'stuck',
    ...(state === 'stuck' && { keptBy: ['example.com/keep'] }),
    unscheduled: state === 'unscheduled',
    phase: state === 'failed' ? 'Failed' : state === 'pending' || state === 'unscheduled' ? 'Pending' : 'Running',
    // A terminating pod may still pass its probes.
    ready: state === 'available' || state === 'fresh' || (state === 'terminating' && age > 1),
    ...(state === 'crashing' && { containers: [{ name: 'agent', state: { waiting: { reason: 'CrashLoopBackOff' } } }] }),
  })
  return { pod, seenForMs: state === 'fresh' ? 1_000 : 3_600_000 }
}

function permitFor(kind: (typeof permitKinds)[number], pod: Pod): readonly Permit[] {
  const permit = aPermit(pod)
  const version = Number(permit.podResourceVersion)
  switch (kind) {
    case 'none':
      return []
    case 'standing':
      return [permit]
    case 'dead':
      return [{ ...permit, podResourceVersion: String(version - 1) }]
    case 'unseen':
      return [{ ...permit, podResourceVersion: String(version + 1) }]
    case 'executed':
      return [{ ...permit, podUid: `${permit.podUid}-before`, podResourceVersion: '4' }]
    default:
      return kind satisfies never
  }
}

function weighted<const T>(values: readonly T[], weights: readonly number[]): fc.Arbitrary<T> {
  return fc.oneof(...values.map((value, at) => ({ arbitrary: fc.constant(value), weight: weights[at] ?? 1 })))
}
