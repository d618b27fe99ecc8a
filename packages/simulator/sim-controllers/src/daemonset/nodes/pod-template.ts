import type { DaemonSet, Pod } from '@tranche/kube-types'

/** A DaemonSet at its current revision. */
export interface Target {
  readonly daemonSet: DaemonSet
  /** `controller-revision-hash` of the current revision. */
  readonly hash: string
}

/** @returns template number as text, from the annotation that the API server maintains; undefined when that is not a whole number */
export function templateGenerationOf(daemonSet: DaemonSet): string | undefined {
  const text = daemonSet.metadata.annotations?.['deprecated.daemonset.template.generation']
  return text !== undefined && /^[+-]?\d+$/.test(text) ? String(BigInt(text.replace('+', ''))) : undefined
}

/**
 * Whether a pod counts as updated: it has the hash of the current revision, or the number of the current template. Numbers restart with
 * each DaemonSet, so pods adopted from a deleted one may count as updated despite another template.
 */
export function isUpdated(pod: Pod, target: Target): boolean {
  const { labels = {} } = pod.metadata
  if (target.hash !== '' && labels['controller-revision-hash'] === target.hash) return true
  const generation = labels['pod-template-generation']
  return generation !== undefined && generation === templateGenerationOf(target.daemonSet)
}
