import type { BatchRelease, Rollout, RolloutStatus } from '@tranche/api-schema'
import { type StepMark, versionOf } from '@tranche/cli'
import { type FleetPod, type FleetView, isAvailable, type NodeView } from '@tranche/fleet'
import {
  type ControllerRevision,
  type DaemonSet,
  keyOf,
  keyText,
  REVISION_HASH_LABEL,
  scaleIntOrPercent,
  parseTime,
} from '@tranche/kube-types'
import type { EventSnapshot, NodeSnapshot, NodeState, ReleaseSnapshot, StepPosition, WaitingLine } from './release-snapshot.ts'

/** Watched objects of one DaemonSet. */
export interface ReleaseObjects {
  readonly daemonSet: DaemonSet
  readonly rollout: Rollout | undefined
  readonly batchRelease: BatchRelease | undefined
  /** Revisions that the DaemonSet owns, in no particular order. */
  readonly revisions: readonly ControllerRevision[]
  readonly fleet: FleetView
  /** Zone of a node; empty if it has none. */
  readonly zoneOf: (node: string) => string
  /** Start of the failure of the node's pod, epoch milliseconds. */
  readonly failingSinceMs: (node: string) => number | undefined
  /** Newest first. */
  readonly events: readonly EventSnapshot[]
  /** Start and end of the release, epoch milliseconds; null before each. */
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
}

/** Current time on both clocks, in milliseconds. */
export interface Now {
  readonly nowMs: number
  readonly monotonicMs: number
}

/** Builds the snapshot for the view. Pure. */
export function buildSnapshot(objects: ReleaseObjects, now: Now): ReleaseSnapshot {
  const { daemonSet, rollout, startedAtMs, endedAtMs, events } = objects
  const canary = objects.revisions.find((revision) => isSameTemplate(templateOf(revision), daemonSet.spec.template))
  const nodes = nodeSnapshots(objects, canary && hashOf(canary), now)
  return {
    daemonSet: keyText(keyOf(daemonSet)),
    rollout: rollout?.metadata.name ?? null,
    nowMs: now.nowMs,
    startedAtMs,
    endedAtMs,
    fromVersion: fromVersion(objects, canary),
    toVersion: versionOf(daemonSet.spec.template.spec?.containers?.[0]?.image) ?? 'no image',
    phase: rollout?.status?.phase ?? null,
    isObserved: isObserved(rollout?.status, canary && hashOf(canary)),
    step: stepPosition(rollout),
    paused: isPaused(rollout),
    steps: stepMarks(rollout, nodes.length),
    nodes,
    maxUnavailable: scaleIntOrPercent(daemonSet.spec.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, nodes.length),
    waiting: waitingOf(objects),
    events: events.filter((event) => isAbout(event, daemonSet, rollout)),
  }
}

/** A status that is Healthy names the revision of the template; other phases say themselves what they wait for. */
function isObserved(status: RolloutStatus | undefined, template: string | undefined): boolean {
  if (status?.phase !== 'Healthy') return true
  return template !== undefined && [status.stableRevision, status.canaryStatus?.stableRevision].includes(template)
}

function hashOf(revision: ControllerRevision): string | undefined {
  return revision.metadata.labels?.[REVISION_HASH_LABEL]
}

function templateOf({ data }: ControllerRevision): DaemonSet['spec']['template'] | undefined {
  return (data as { spec?: { template?: DaemonSet['spec']['template'] } } | undefined)?.spec?.template
}

/** Compares templates regardless of member order and of `$patch`: a revision stores its template as a patch. */
function isSameTemplate(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  keys.delete('$patch')
  return [...keys].every((key) => isSameTemplate(a[key as keyof object], b[key as keyof object]))
}

function nodeSnapshots(objects: ReleaseObjects, canary: string | undefined, now: Now): NodeSnapshot[] {
  const minReadyMs = (objects.daemonSet.spec.minReadySeconds ?? 0) * 1000
  const nodes = objects.fleet.nodes
    .filter((node) => node.desired)
    .map((node): NodeSnapshot => {
      const state = nodeState(node, canary, (pod) => isAvailable(pod, minReadyMs, now.monotonicMs))
      const known = {
        name: node.name,
        zone: objects.zoneOf(node.name),
        state,
        onCanary: node.pods.some((pod) => !pod.terminating && pod.hash === canary),
      }
      const reason = state === 'failing' ? node.pods.find((pod) => pod.trouble !== undefined)?.trouble?.reason : undefined
      const sinceMs = state === 'failing' ? objects.failingSinceMs(node.name) : undefined
      return { ...known, ...(reason !== undefined && { reason }), ...(sinceMs !== undefined && { sinceMs }) }
    })
  return nodes.sort((a, b) => byText(a.zone, b.zone) || byText(a.name, b.name))
}

function nodeState(node: NodeView, canary: string | undefined, available: (pod: FleetPod) => boolean): NodeState {
  const standing = node.pods.filter((pod) => !pod.terminating)
  const up = standing.filter(available)
  if (up.some((pod) => pod.hash === canary)) return 'updated'
  if (up.length > 0) return 'old'
  if (standing.some((pod) => pod.trouble !== undefined)) return 'failing'
  if (!node.ready) return 'notReady'
  return standing.some((pod) => pod.hash !== canary) ? 'down' : 'updating'
}

function fromVersion({ rollout, revisions }: ReleaseObjects, canary: ControllerRevision | undefined): string | null {
  const stable = rollout?.status?.canaryStatus?.stableRevision
  const others = revisions.filter((revision) => revision !== canary)
  const newestFirst = [...others].sort((a, b) => b.revision - a.revision)
  const from = stable === undefined ? newestFirst[0] : others.find((revision) => hashOf(revision) === stable)
  return versionOf(from && templateOf(from)?.spec?.containers?.[0]?.image)
}

function isPaused(rollout: Rollout | undefined): boolean {
  return rollout?.status?.conditions?.some(({ type, reason }) => type === 'Progressing' && reason === 'Paused') ?? false
}

/** Whether an event is about the DaemonSet, its Rollout and BatchRelease, or its pods, which are named after it. */
function isAbout({ object, namespace }: EventSnapshot, { metadata }: DaemonSet, rollout: Rollout | undefined): boolean {
  if (namespace !== metadata.namespace) return false
  const [kind = '', name = ''] = object.split('/')
  if (kind === 'Pod') return name.slice(0, name.lastIndexOf('-')) === metadata.name
  return kind === 'DaemonSet' ? name === metadata.name : name === rollout?.metadata.name
}

function stepPosition(rollout: Rollout | undefined): StepPosition | null {
  const status = rollout?.status
  const count = rollout?.spec.strategy.canary?.steps?.length ?? 0
  if (status === undefined || count === 0 || status.currentStepIndex < 1) return null
  return { index: status.currentStepIndex, count, state: status.currentStepState }
}

function stepMarks(rollout: Rollout | undefined, desired: number): StepMark[] {
  return (rollout?.spec.strategy.canary?.steps ?? []).flatMap((step) => {
    const nodes = step.replicas === undefined ? null : scaleIntOrPercent(step.replicas, desired)
    return nodes === null ? [] : [{ label: String(step.replicas), nodes: Math.min(nodes, desired) }]
  })
}

/** Reports what the batch waits for; between batches, what the Rollout waits for. */
function waitingOf({ rollout, batchRelease }: ReleaseObjects): WaitingLine | null {
  const status = rollout?.status
  if (status?.phase === undefined) return null
  const waiting = batchRelease?.status?.waiting
  if (status.phase === 'Progressing' && status.currentStepState !== 'StepPaused' && waiting !== undefined)
    return {
      message: waiting.message,
      subject: JSON.stringify([waiting.reason, ...waiting.nodes]),
      sinceMs: parseTime(waiting.since),
    }
  const settled =
    status.phase === 'Healthy' && !status.conditions?.some((condition) => condition.type === 'Stalled' && condition.status === 'True')
  if (settled || !status.message) return null
  return { message: status.message, subject: standing(status), sinceMs: parseTime(status.canaryStatus?.lastUpdateTime) }
}

/** Identity of a wait: it stays equal while counts and times in the message change. */
function standing({ phase, conditions = [], waitingFor, currentStepIndex, currentStepState, canaryStatus }: RolloutStatus): string {
  const reasons = conditions.filter(({ status }) => status === 'True').map(({ type, reason }) => [type, reason])
  return JSON.stringify([phase, reasons, waitingFor?.reason, currentStepIndex, currentStepState, canaryStatus?.canaryRevision])
}

/** Compares by code unit, but numbers in names as numbers, so that node-2 precedes node-10. */
function byText(a: string, b: string): number {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  const stem = /^(.*?)\d*$/.exec(a)?.[1]
  if (short.length !== long.length && stem === /^(.*?)\d*$/.exec(b)?.[1]) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}
