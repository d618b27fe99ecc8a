import { clipText } from '@tranche/kube-types'
import type { Consumer } from './consumers.ts'

/** An eviction that the API server did not accept, such as one that a PodDisruptionBudget does not allow. */
export interface EvictionRefusal {
  /** uid of the pod. */
  readonly uid: string
  readonly message: string
}

/** Maximum number of consumers that a text names. */
const NAMED_MAX = 3

/** Maximum length of the names of finalizers: a user may give a pod a megabyte of them. */
const FINALIZERS_MAX = 200

/** @returns which consumers are on the node, and what keeps each: `2 pods use the agent: a/b (…), c/d (…)` */
export function drainText(consumers: readonly Consumer[], refusals: readonly EvictionRefusal[]): string {
  const count = consumers.length === 1 ? '1 pod uses the agent' : `${consumers.length} pods use the agent`
  const named = consumers.slice(0, NAMED_MAX).map((consumer) => consumerText(consumer, refusals))
  const more = consumers.length > NAMED_MAX ? [`and ${consumers.length - NAMED_MAX} more`] : []
  return `${count}: ${[...named, ...more].join(', ')}`
}

function consumerText({ namespace, name, uid, isLeaving, finalizers }: Consumer, refusals: readonly EvictionRefusal[]): string {
  const refusal = refusals.find((one) => one.uid === uid)
  const why =
    finalizers.length > 0
      ? `terminating, with finalizer ${clipText(finalizers.join(', '), FINALIZERS_MAX)}`
      : isLeaving
        ? 'terminating'
        : refusal?.message
  return why === undefined ? `${namespace}/${name}` : `${namespace}/${name} (${why})`
}
