import type {
  BatchRelease,
  BatchReleaseSpec,
  BatchReleaseStatus,
  FailureRules,
  Permit,
  StoppedTime,
  WatchedNode,
} from '@tranche/api-schema'
import { BY_STAMPS, type FleetPod, FleetIndex, type FleetView, toFleetNode, toFleetPod } from '@tranche/fleet'
import type { Pod } from '@tranche/kube-types'
import { aNode, aPod, FLEET_OWNER, type PodFields } from '@tranche/testing'
import { judgedNodes, judgeRelease, type Judgement, nodeDeadlines, watchNodes } from '@tranche/verdict'

/** Start of the release. */
export const START_MS = Date.parse('2026-01-01T00:00:00Z')

/** Fields of one node in a case. By default it has a Ready pod of the new revision, created a second after the release started. */
export interface NodeSays extends Omit<PodFields, 'node'> {
  /** No pod, or one of the old revision, instead. */
  readonly pod?: 'none' | 'old'
  readonly isNodeReady?: boolean
  /** Time since which the node is NotReady. */
  readonly notReadySince?: string
  /** Seconds since the start of the release at which this process saw it become NotReady; it saw its pod acknowledged at the start. */
  readonly seenNotReadyAt?: number | undefined
  /** Whether the kubelet of a NotReady node responds. @default true */
  readonly answers?: boolean
  readonly acknowledged?: boolean
  /** Key of a taint of the node that the pod does not tolerate. */
  readonly taint?: string
  /** The scheduler cannot place its pod. */
  readonly isUnschedulable?: boolean
  readonly initContainers?: NonNullable<Pod['status']>['initContainerStatuses']
}

/** Fields of a release in a case. */
export interface CaseSays {
  readonly nodes: Readonly<Record<string, NodeSays>>
  /** The nodes as another case has seen them, instead. */
  readonly fleet?: FleetView
  /** When the BatchRelease was created; the start of the release unless set. */
  readonly begunAt?: string
  readonly rules?: FailureRules
  /** Seconds since the start of the release. */
  readonly at?: number
  readonly permits?: readonly Permit[]
  readonly watched?: readonly WatchedNode[]
  readonly stopped?: Partial<StoppedTime>
  readonly minReadyMs?: number
  /** Nodes that were NotReady when they were due, under a policy that treats that as a failure. */
  readonly notReadyDue?: readonly string[]
  readonly plan?: Partial<BatchReleaseSpec['releasePlan']>
  readonly tranche?: BatchReleaseSpec['tranche']
  readonly status?: Partial<BatchReleaseStatus>
}

/** @returns RFC 3339 time that is this many seconds after the start of the release */
export function at(seconds: number): string {
  return new Date(START_MS + seconds * 1000).toISOString()
}

/** Judges a case. */
export function judge(says: CaseSays): Judgement {
  const judgement = judgeRelease({ ...seen(says), release: releaseOf(says) })
  if (judgement === null) throw new Error('nothing is being released')
  return judgement
}

/** The failed nodes in words: `a: CrashLoopBackOff`. */
export function failedIn(judgement: Judgement): readonly string[] {
  return judgement.verdict.failed.map(({ node, reason }) => `${node}: ${reason}`)
}

/** Seconds since the start of the release at which nodes fail by a running deadline. */
export function deadlinesIn(says: CaseSays): Readonly<Record<string, number>> {
  const deadlines = nodeDeadlines({ ...seen(says), release: releaseOf(says) })
  return Object.fromEntries([...deadlines].map(([node, ms]) => [node, (ms - START_MS) / 1000]))
}

/** Watched nodes after an evaluation of a case. */
export function watch(says: CaseSays): readonly WatchedNode[] {
  return watchNodes({ ...seen(says), revision: 'new', judged: judgedNodes(releaseOf(says)), permits: says.permits ?? [] })
}

/** A container that waits. */
export function waiting(reason: string, restartCount = 0): Pick<NodeSays, 'containers' | 'ready'> {
  return { ready: false, containers: [{ name: 'agent', restartCount, state: { waiting: { reason } } }] }
}

/** A running container with this number of restarts. */
export function running(restartCount: number, reason = 'Error'): Pick<NodeSays, 'containers'> {
  return { containers: [{ name: 'agent', restartCount, lastState: { terminated: { reason, exitCode: 1, message: 'panic: boom' } } }] }
}

interface Seen {
  readonly fleet: FleetView
  readonly minReadyMs: number
  readonly nowMs: number
  readonly monotonicMs: number
  readonly watched: readonly WatchedNode[]
  readonly stopped: StoppedTime
}

function seen(says: CaseSays): Seen {
  const { at: seconds = 10 } = says
  return {
    fleet: says.fleet ?? fleetOf(says.nodes),
    minReadyMs: says.minReadyMs ?? 0,
    nowMs: START_MS + seconds * 1000,
    monotonicMs: seconds * 1000,
    watched: says.watched ?? [],
    ...(says.notReadyDue !== undefined && { notReadyDue: says.notReadyDue }),
    stopped: { release: 'r1', startedAt: at(0), seconds: 0, ...says.stopped },
  }
}

/** The fleet of a case. */
export function fleetOf(nodes: CaseSays['nodes']): FleetView {
  const index = new FleetIndex()
  for (const [name, says] of Object.entries(nodes)) {
    const { isNodeReady = true, answers = true, notReadySince, taint } = says
    const taints = taint === undefined ? [] : [{ key: taint, effect: 'NoSchedule' }]
    const node = aNode(name, { ready: isNodeReady, answers, taints, ...(notReadySince !== undefined && { notReadySince }) })
    const { seenNotReadyAt } = says
    const seen = seenNotReadyAt === undefined ? {} : { unreadyFromMs: seenNotReadyAt * 1_000 }
    index.nodeChanged(undefined, { ...toFleetNode(node, undefined, BY_STAMPS), ...seen })
    if (says.pod !== 'none')
      index.podChanged(undefined, { ...podOf(name, says), ...(seenNotReadyAt !== undefined && { acknowledgedFromMs: 0 }) })
  }
  return index.view(FLEET_OWNER)
}

function podOf(
  node: string,
  {
    pod: which,
    isUnschedulable = false,
    initContainers,
    isNodeReady: _isNodeReady,
    notReadySince: _since,
    answers: _answers,
    seenNotReadyAt: _seen,
    taint: _taint,
    ...says
  }: NodeSays,
): FleetPod {
  const { acknowledged = !isUnschedulable, ...fields } = says
  const createdAt = fields.createdAt ?? at(1)
  const pod = aPod({ node, hash: which === 'old' ? 'old' : 'new', readyStamp: createdAt, ...fields, createdAt })
  const status = {
    ...pod.status,
    ...(acknowledged && { startTime: createdAt }),
    ...(isUnschedulable && { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no room' }] }),
    ...(initContainers !== undefined && { initContainerStatuses: initContainers }),
  }
  const fleetPod = toFleetPod({ ...pod, status }, undefined, { nowMs: START_MS + 1e9, monotonicMs: 0 })
  if (fleetPod === null) throw new Error('the pod is on no node')
  return fleetPod
}

function releaseOf(says: CaseSays): Pick<BatchRelease, 'metadata' | 'spec' | 'status'> {
  const base = { canaryRevision: 'new', stableRevision: 'old', release: 'r1' }
  const record = {
    ...{ workloadUid: 'daemonset', epoch: 1, seq: 1, state: 'open' as const, holds: [], generation: 1, revision: 'new' },
    ...{ partition: 0, limit: 10, watermark: '1', permits: says.permits ?? [] },
  }
  return {
    metadata: { name: 'agent', uid: 'release', resourceVersion: '1', creationTimestamp: says.begunAt ?? at(0) },
    spec: {
      releasePlan: { enableExtraWorkloadForCanary: false, ...says.plan },
      tranche: { ...base, ...(says.rules !== undefined && { failure: says.rules }), ...says.tranche },
    },
    status: { flight: record, ...says.status },
  }
}
