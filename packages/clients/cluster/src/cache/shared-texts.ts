import type { FleetPod } from '@tranche/fleet'
import type { Labels } from '@tranche/kube-types'

/** Maximum number of known texts; then all are forgotten and collected again. */
const TEXTS_MAX = 20_000

/** Maximum number of known label sets; usually one per revision and batch. */
const LABELS_MAX = 1_000

/** Maximum characters of a text that is shared. Users give pods texts of a megabyte, which must not stay in memory after the pod. */
const LONGEST_TEXT = 256
/** The same for all labels of a pod. */
const LONGEST_LABELS = 4_096

/**
 * Shares equal strings of many pods in memory: the JSON parser creates each string again, and pods repeat the same owners, nodes and
 * timestamps.
 */
export function createSharedTexts(): (pod: FleetPod) => FleetPod {
  const known = new Map<string, string>()
  const shared = <T extends string | undefined>(text: T): T => {
    if (text === undefined || text.length > LONGEST_TEXT) return text
    const first = known.get(text)
    if (first !== undefined) return first as T
    if (known.size >= TEXTS_MAX) known.clear()
    known.set(text, text)
    return text
  }
  const knownLabels = new Map<string, Labels>()
  const sharedLabels = (labels: Labels): Labels => {
    const text = JSON.stringify(labels)
    if (text.length > LONGEST_LABELS) return labels
    const first = knownLabels.get(text)
    if (first !== undefined) return first
    if (knownLabels.size >= LABELS_MAX) knownLabels.clear()
    knownLabels.set(text, labels)
    return labels
  }
  return (pod) => ({
    ...pod,
    labels: sharedLabels(pod.labels),
    namespace: shared(pod.namespace),
    ownerUid: shared(pod.ownerUid),
    node: shared(pod.node),
    hash: shared(pod.hash),
    createdAt: shared(pod.createdAt),
    readyStamp: shared(pod.readyStamp),
    ...(pod.acknowledgedAt !== undefined && { acknowledgedAt: shared(pod.acknowledgedAt) }),
  })
}
