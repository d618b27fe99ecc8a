import { type DaemonSet, type Node, type Pod, REVISION_HASH_LABEL, ROLLOUT_BATCH_ID_LABEL } from '@tranche/kube-types'
import type { PodTimesQuestion } from '../src/pod-times.ts'

const fromMs = Date.parse('2026-01-01T00:00:00Z')

/** A moment as Kubernetes writes it: whole seconds. */
export function stampOf(ms: number): string {
  return new Date(fromMs + Math.floor(ms / 1_000) * 1_000).toISOString().replace('.000', '')
}

/** When a pod came up, in milliseconds of the test. */
export interface Life {
  readonly at: number
  readonly createdMs: number
  readonly readyMs: number
  readonly takenUpMs?: number
  readonly batch?: number
  readonly restartCount?: number
}

/** The pod on node `at` as the API server has it. */
export function podOf({ at, createdMs, readyMs, takenUpMs, batch, restartCount = 0 }: Life): Pod {
  const labels = { [REVISION_HASH_LABEL]: 'aaaa', ...(batch !== undefined && { [ROLLOUT_BATCH_ID_LABEL]: String(batch) }) }
  return {
    metadata: { name: `agent-${at}`, namespace: 'demo', uid: `${at}`, creationTimestamp: stampOf(createdMs), labels },
    spec: { nodeName: `node-${at}` },
    status: {
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: stampOf(readyMs) }],
      containerStatuses: [{ restartCount }],
      ...(takenUpMs !== undefined && { startTime: stampOf(takenUpMs) }),
    },
  } as unknown as Pod
}

/** Timeline of a finished release. Milliseconds. */
export interface PlayedRelease {
  /** Nodes of each batch. */
  readonly batches: readonly number[]
  readonly limit: number
  readonly startMsOf: (at: number) => number
  readonly stopMs: number
  readonly minReadyMs?: number
  readonly pauseMs?: number
  readonly fromMs?: number
  /** Pods carry the number of their batch. @default true */
  readonly isLabelled?: boolean
}

/** The pods that a release leaves which keeps `limit` nodes down: the next node is taken as soon as one is up. */
export function releasedPods(release: PlayedRelease): readonly Pod[] {
  const { batches, limit, startMsOf, stopMs, minReadyMs = 0, pauseMs = 10_000, isLabelled = true } = release
  let nowMs = release.fromMs ?? 100_000
  let at = 0
  return batches.flatMap((nodes, index) => {
    const places = Array.from({ length: Math.min(limit, nodes) }, () => nowMs)
    const pods = Array.from({ length: nodes }, () => {
      const place = places.indexOf(Math.min(...places))
      const createdMs = places[place]! + stopMs
      const readyMs = createdMs + startMsOf(at)
      places[place] = readyMs + minReadyMs
      return podOf({ at: at++, createdMs, readyMs, takenUpMs: createdMs, ...(isLabelled && { batch: index + 1 }) })
    })
    nowMs = Math.max(...places) + pauseMs
    return pods
  })
}

/** Something to measure: nodes from the beginning, a second revision after 50 s. */
export function question(pods: readonly Pod[], { limit = 2, spec = {}, revisionsMs = [0, 50_000] } = {}): PodTimesQuestion {
  const daemonSet = { spec: { template: {}, ...spec } } as DaemonSet
  const nodes = pods.map(({ spec: pod }): Node => ({ metadata: { name: pod!.nodeName!, creationTimestamp: stampOf(0) } }) as Node)
  const revisions = revisionsMs.map((ms, at) => ({
    metadata: { name: `agent-${at}`, uid: `${at}`, resourceVersion: '1', creationTimestamp: stampOf(ms) },
    revision: at + 1,
  }))
  return { snapshot: { pods, nodes, revisions }, daemonSet, planned: daemonSet, limit }
}
