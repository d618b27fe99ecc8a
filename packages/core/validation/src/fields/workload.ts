import type { Rollout } from '@tranche/api-schema'
import { nearMiss } from './near-misses.ts'
import { type Problem, problemOf } from '../problems/problem.ts'

type WorkloadRef = Rollout['spec']['workloadRef']

/**
 * Whether Tranche releases a workload: a DaemonSet of the group `apps`. Tranche neither checks nor writes Rollouts of other
 * workloads.
 */
export function isDaemonSetRef({ apiVersion, kind }: WorkloadRef): boolean {
  return kind === 'DaemonSet' && groupOf(apiVersion) === 'apps'
}

/** @returns the fix for a workload that Tranche does not release; for a near miss of DaemonSet it includes the right spelling */
export function otherWorkloadFix({ apiVersion, kind }: WorkloadRef, fix: string): string {
  return nearMiss({ apiVersion, kind })?.kind === 'DaemonSet'
    ? `if you mean a DaemonSet, write DaemonSet and apps/v1; otherwise ${fix}`
    : fix
}

/** Whether two references in one namespace name the same workload. Compares group, kind and name, not the version. */
export function isSameWorkload(a: WorkloadRef, b: WorkloadRef): boolean {
  return groupOf(a.apiVersion) === groupOf(b.apiVersion) && a.kind === b.kind && a.name === b.name
}

/** Whether a Rollout may hold its workload: it is neither disabled nor being deleted. */
export function mayHold({ metadata, spec }: Rollout): boolean {
  return spec.disabled !== true && metadata.deletionTimestamp === undefined
}

/**
 * Finds the other Rollouts with the workload of `rollout`: same namespace, neither disabled nor being deleted.
 *
 * @param others Rollouts of any namespace; `rollout` itself may be among them
 */
export function conflictingRollouts(rollout: Rollout, others: readonly Rollout[]): readonly Rollout[] {
  return others.filter(
    (other) =>
      other.metadata.namespace === rollout.metadata.namespace &&
      other.metadata.name !== rollout.metadata.name &&
      mayHold(other) &&
      isSameWorkload(other.spec.workloadRef, rollout.spec.workloadRef),
  )
}

/**
 * Checks that no other Rollout holds the workload. The holder is the Rollout that the workload is bound to, else the older
 * one, else the first by name.
 *
 * @param boundTo value of the workload's annotation `tranche.dev/rollout`, or null
 */
export function validateBinding(rollout: Rollout, others: readonly Rollout[], boundTo: string | null): readonly Problem[] {
  const holder = conflictingRollouts(rollout, others).find((conflicting) => comesBefore(conflicting, rollout, boundTo))
  return holder === undefined ? [] : [workloadTaken(rollout, holder)]
}

/** @returns the problem of a Rollout whose workload another Rollout holds */
export function workloadTaken(rollout: Rollout, holder: Rollout): Problem {
  return problemOf('WorkloadTaken', {
    value: rollout.spec.workloadRef.name,
    message: `the Rollout ${holder.metadata.name} already releases this DaemonSet`,
  })
}

/**
 * Whether, of two Rollouts that may hold one workload, the first one comes first.
 *
 * @param boundTo value of the workload's annotation `tranche.dev/rollout`, or null
 */
export function comesBefore({ metadata: first }: Rollout, { metadata: second }: Rollout, boundTo: string | null): boolean {
  if (first.name === boundTo || second.name === boundTo) return first.name === boundTo
  const [firstMade, secondMade] = [first.creationTimestamp ?? '', second.creationTimestamp ?? '']
  return firstMade === secondMade ? first.name < second.name : firstMade < secondMade
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}
