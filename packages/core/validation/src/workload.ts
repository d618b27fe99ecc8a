import type { Rollout } from '@tranche/api-schema'
import { nearMiss } from './near-misses.ts'
import { type Problem, problemOf } from './problem.ts'

type WorkloadRef = Rollout['spec']['workloadRef']

/**
 * Whether a workload is one that we release: a DaemonSet of the group `apps`. A Rollout of any other belongs to somebody
 * else and is neither written nor judged by us.
 */
export function isDaemonSetRef({ apiVersion, kind }: WorkloadRef): boolean {
  return kind === 'DaemonSet' && groupOf(apiVersion) === 'apps'
}

/** @returns what to do about a workload that is none of ours: one that is nearly a DaemonSet is told how it is written */
export function otherWorkloadFix({ apiVersion, kind }: WorkloadRef, fix: string): string {
  return nearMiss({ apiVersion, kind })?.kind === 'DaemonSet' ? `write DaemonSet and apps/v1 if that is meant; else ${fix}` : fix
}

/** Whether two Rollouts of one namespace name the same workload. Group and kind count, the version does not. */
export function isSameWorkload(a: WorkloadRef, b: WorkloadRef): boolean {
  return groupOf(a.apiVersion) === groupOf(b.apiVersion) && a.kind === b.kind && a.name === b.name
}

/**
 * Finds the other Rollouts that hold the workload of `rollout`: same namespace, neither disabled nor being deleted.
 *
 * @param others Rollouts of any namespace; `rollout` itself may be among them
 */
export function conflictingRollouts(rollout: Rollout, others: readonly Rollout[]): readonly Rollout[] {
  return others.filter(
    (other) =>
      other.metadata.namespace === rollout.metadata.namespace &&
      other.metadata.name !== rollout.metadata.name &&
      other.spec.disabled !== true &&
      other.metadata.deletionTimestamp === undefined &&
      isSameWorkload(other.spec.workloadRef, rollout.spec.workloadRef),
  )
}

/**
 * Checks that no other Rollout holds the workload. Of two, the one the workload is bound to holds it; else the older one;
 * else the one whose name comes first.
 *
 * @param boundTo name that the workload's annotation `tranche.dev/rollout` carries, or null
 */
export function validateBinding(rollout: Rollout, others: readonly Rollout[], boundTo: string | null): readonly Problem[] {
  const holder = conflictingRollouts(rollout, others).find((conflicting) => isBefore(conflicting, rollout, boundTo))
  return holder === undefined ? [] : [workloadTaken(rollout, holder)]
}

/** @returns the problem of a Rollout whose workload another one holds */
export function workloadTaken(rollout: Rollout, holder: Rollout): Problem {
  return problemOf('WorkloadTaken', {
    value: rollout.spec.workloadRef.name,
    message: `the Rollout ${holder.metadata.name} already releases this DaemonSet`,
  })
}

function isBefore(conflicting: Rollout, rollout: Rollout, boundTo: string | null): boolean {
  if (conflicting.metadata.name === boundTo || rollout.metadata.name === boundTo) return conflicting.metadata.name === boundTo
  const [conflictingMade, made] = [conflicting.metadata.creationTimestamp ?? '', rollout.metadata.creationTimestamp ?? '']
  return conflictingMade === made ? conflicting.metadata.name < rollout.metadata.name : conflictingMade < made
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}
