import type { FleetPod } from '@tranche/fleet'
import type { Labels } from '@tranche/kube-types'

/** So many texts are known at most; then all are forgotten, and known anew as they come. */
const TEXTS_MAX = 20_000

/** The same for sets of labels: one for each revision and batch, as a rule. */
const LABELS_MAX = 1_000

/**
 * Lets equal texts of many pods be one in memory: JSON that is parsed makes each text anew, and pods name the same owners, nodes and
 * moments over and over.
 */
export function createSharedTexts(): (pod: FleetPod) => FleetPod {
  const known = new Map<string, string>()
  const shared = <T extends string | undefined>(text: T): T => {
    if (text === undefined) return text
    const first = known.get(text)
    if (first !== undefined) return first as T
    if (known.size >= TEXTS_MAX) known.clear()
    known.set(text, text)
    return text
  }
  const knownLabels = new Map<string, Labels>()
  const sharedLabels = (labels: Labels): Labels => {
    const text = JSON.stringify(labels)
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
