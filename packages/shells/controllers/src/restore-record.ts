import type { Clock } from '@tranche/clock'
import { createRecord, lostPermits, type TouchAnswer } from '@tranche/fence'
import { type DaemonSet, daemonSetAnnotations, keyText, newerResourceVersion, type ObjectKey } from '@tranche/kube-types'
import type { Logger } from '@tranche/telemetry'
import type { BatchReleasePlan, ReleaseView } from '@tranche/planner'
import { fieldsOf } from './log-plans.ts'
import type { ReleasePort } from './release-port.ts'

/** Dependencies for touching pods and writing a record. */
export interface RestoreParts {
  readonly cluster: Pick<ReleasePort, 'listDesiredNodes' | 'listPods' | 'touchPod' | 'writeRecord'>
  readonly clock: Clock
  readonly log: Logger
  readonly key: ObjectKey
  readonly signal: AbortSignal
}

/**
 * Rule F11: replaces a lost record with a new one that is stopped and has a permit for each node that may be in flight. First it touches
 * every pod that is not terminating; the list that is read afterwards shows every deletion that was accepted before.
 *
 * @returns whether the record was written; null if a touch got no clear response
 */
export async function restoreRecord(
  { allowance, minReadyMs }: BatchReleasePlan & { kind: 'restoreRecord' },
  { release, daemonSet, fleet }: Pick<ReleaseView, 'release' | 'fleet'> & { readonly daemonSet: DaemonSet },
  parts: RestoreParts,
): Promise<boolean | null> {
  const { cluster, clock, log, key, signal } = parts
  log.warn({ ...fieldsOf(release), batchRelease: keyText(key) }, 'restoring lost permit record')
  if ((await touchStandingPods(daemonSet, parts)) === null) return null
  const pods = await cluster.listPods(daemonSet, signal)
  const nodes = await cluster.listDesiredNodes(daemonSet, signal)
  const watermark = pods.map(({ resourceVersion }) => resourceVersion).reduce(newerResourceVersion, '0')
  const availability = { minReadyMs, monotonicMs: clock.monotonicMs() }
  const stable = daemonSet.metadata.annotations?.[daemonSetAnnotations.stableRevision]
  const former = release.spec.tranche?.formerRevisions ?? []
  const permits = lostPermits({ revision: allowance.revision, stable, former, nodes, fleet, pods, availability })
  return cluster.writeRecord(release, { ...createRecord(allowance, watermark), permits }, signal)
}

/**
 * Touches every pod of the DaemonSet that is not terminating, from a live list.
 *
 * @returns null if a touch got no clear response
 */
export async function touchStandingPods(
  daemonSet: DaemonSet,
  { cluster, signal }: Pick<RestoreParts, 'cluster' | 'signal'>,
): Promise<readonly TouchAnswer[] | null> {
  const pods = await cluster.listPods(daemonSet, signal)
  const standing = pods.filter((pod) => !pod.terminating)
  const answers = await Promise.all(standing.map((pod) => cluster.touchPod(pod, signal, Number.POSITIVE_INFINITY)))
  return answers.some(({ kind }) => kind === 'unclear') ? null : answers
}

/** F2: a record that is written after touches rests on them, too. */
export function restingOn(plan: BatchReleasePlan, answers: readonly TouchAnswer[]): BatchReleasePlan {
  if (plan.kind !== 'writeRecord') return plan
  const versions = answers.flatMap((answer) => (answer.kind === 'standing' ? [answer.resourceVersion] : []))
  return { ...plan, record: { ...plan.record, watermark: versions.reduce(newerResourceVersion, plan.record.watermark) } }
}
