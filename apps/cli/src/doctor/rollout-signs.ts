import type { Rollout } from '@tranche/api-schema'
import type { KubeObject } from '@tranche/kube-types'
import { isDaemonSetRef } from '@tranche/validation'
import type { ClusterSigns } from './cluster-signs.ts'

/** What is kept of a Rollout: whether our controller has answered it; `other` where another one is to. */
export type RolloutSign = 'answered' | 'unanswered' | 'other'

/** @returns what a Rollout says of the controller */
export function toRolloutSign(object: KubeObject): RolloutSign {
  const { metadata, spec, status } = object as Rollout
  if (!isDaemonSetRef(spec.workloadRef)) return 'other'
  return status?.observedGeneration === metadata.generation ? 'answered' : 'unanswered'
}

/** @returns how many Rollouts our controller is to answer, and how many it has */
export function tallyRollouts(signs: readonly RolloutSign[]): Exclude<ClusterSigns['rollouts'], 'forbidden'> {
  const own = signs.filter((sign) => sign !== 'other')
  return { all: own.length, answered: own.filter((sign) => sign === 'answered').length }
}
