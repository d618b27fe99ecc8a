import { expect } from 'vitest'
import type { RecordedPod } from '@tranche/recording'
import { condition } from '../looks.ts'
import type { Stage } from '../stage.ts'
import { stageKey } from '../stage-objects.ts'

/** Annotations that give pods the times of the measurements: 2 s plus up to 1 s to start, 0.5 s to stop. */
export const measuredPods: Readonly<Record<string, string>> = {
  'sim.tranche.dev/start-ms': '2000',
  'sim.tranche.dev/jitter-ms': '1000',
  'sim.tranche.dev/stop-ms': '500',
}

/** With one executor, and with two at the same time. */
export const crews = [
  { crew: 'one executor', executors: ['executor-1'] },
  { crew: 'two executors', executors: ['executor-1', 'executor-2'] },
] as const

/** A deletion of a pod of the DaemonSet that the server has accepted. */
export interface Deleted {
  readonly atMs: number
  readonly actor: string
  readonly node: string
  readonly uid: string
}

/** @returns deletions of standing pods since `sinceMs` by any client, in order */
export function deleted(stage: Stage, sinceMs = 0): readonly Deleted[] {
  const ended = new Set<string>()
  const found: Deleted[] = []
  for (const { t, kind, verb, type, o, actor = '?' } of stage.recording()) {
    if (kind !== 'Pod') continue
    const pod = o as unknown as RecordedPod
    if (pod.owner !== stageKey.name || ended.has(pod.uid) || !(pod.deleting || type === 'DELETED')) continue
    ended.add(pod.uid)
    if (verb === 'delete' && t >= sinceMs) found.push({ atMs: t, actor, node: pod.node ?? '?', uid: pod.uid })
  }
  return found
}

/** @returns number of the executors' delete requests for this pod that the server has accepted */
export function timesDeleted(stage: Stage, uid: string): number {
  return stage
    .recording()
    .filter((write) => write.kind === 'Pod' && write.uid === uid && write.verb === 'delete' && write.actor?.startsWith('executor')).length
}

/**
 * Counts the nodes that are down after every accepted write since `sinceMs`, by any client.
 *
 * @param minReadySeconds time after which a Ready pod counts as available
 * @returns the most nodes at once without an available, non-terminating pod
 */
export function mostDown(stage: Stage, sinceMs: number, minReadySeconds = 0): number {
  const nodes = new Set<string>()
  const pods = new Map<string, { readonly node: string; readonly readySinceMs: number }>()
  let most = 0
  for (const { t, kind, type, o } of stage.recording()) {
    if (kind === 'Node' && type === 'DELETED') nodes.delete(String(o['name']))
    else if (kind === 'Node') nodes.add(String(o['name']))
    else if (kind === 'Pod') follow(pods, { t, type, pod: o as unknown as RecordedPod })
    if (t < sinceMs) continue
    const up = new Set(
      pods
        .values()
        .filter(({ readySinceMs }) => readySinceMs + minReadySeconds * 1000 <= t)
        .map(({ node }) => node),
    )
    most = Math.max(most, [...nodes].filter((node) => !up.has(node)).length)
  }
  return most
}

function follow(
  pods: Map<string, { readonly node: string; readonly readySinceMs: number }>,
  { t, type, pod }: { readonly t: number; readonly type: string; readonly pod: RecordedPod },
): void {
  if (pod.owner !== stageKey.name || pod.node === undefined) return
  if (type === 'DELETED' || pod.deleting || !pod.ready) pods.delete(pod.uid)
  else if (!pods.has(pod.uid)) pods.set(pod.uid, { node: pod.node, readySinceMs: t })
}

/** @returns the longest time since `sinceMs` in which no pod of the DaemonSet changed, in milliseconds */
export function longestRest(stage: Stage, sinceMs: number, untilMs: number): number {
  const times = stage
    .recording()
    .filter(({ kind, t }) => kind === 'Pod' && t >= sinceMs && t <= untilMs)
    .map(({ t }) => t)
  return Math.max(0, ...times.map((t, at) => t - (times[at - 1] ?? sinceMs)))
}

/** Expects that the message of the Rollout contains all names: nodes, pods, reasons. */
export async function expectReported(stage: Stage, ...names: readonly string[]): Promise<void> {
  const { message } = (await stage.rollout()).status ?? {}
  for (const name of names) expect(message).toContain(name)
}

/** Whether the Rollout reports that it is paused. */
export async function isPaused(stage: Stage): Promise<boolean> {
  return (await condition(stage, 'Progressing'))?.reason === 'Paused'
}

/** Whether the Rollout is Healthy. */
export async function isHealthy(stage: Stage): Promise<boolean> {
  return (await stage.rollout()).status?.phase === 'Healthy'
}
