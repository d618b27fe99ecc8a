import { type FleetView, nodeInView } from '@tranche/fleet'
import { ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import type { PodLabels } from '@tranche/planner'

/** Pods that this process has labelled, or could not label, until its watch shows more. Saves requests; no guarantee depends on it (G7). */
export interface LabelMemory {
  /** Records that the pod has its labels. */
  put(pod: PodLabels): void
  /**
   * Records that the labels could not be put on the pod as `fleet` shows it. It is retried once the pod changes, or from `againMs`
   * (monotonic) on.
   */
  refused(pod: PodLabels, fleet: FleetView, againMs: number): void
  /** @returns the uids of the pods that must not be labelled with this rollout-id now */
  doneFor(rolloutId: string | undefined, fleet: FleetView, monotonicMs: number): ReadonlySet<string>
  /** @returns the monotonic time of the next retry, even without a change; Infinity: never */
  nextTryMs(): number
}

interface Labelled {
  readonly node: string
  readonly rolloutId: string
  /** Undefined if the labels are on the pod. */
  readonly refused: { readonly version: string | undefined; readonly againMs: number } | undefined
}

/** Creates an empty memory. */
export function createLabelMemory(): LabelMemory {
  const labelled = new Map<string, Labelled>()
  const remember = ({ uid, node, labels }: PodLabels, refused: Labelled['refused']): void =>
    void labelled.set(uid, { node, rolloutId: labels[ROLLOUT_ID_LABEL] ?? '', refused })
  return {
    put: (pod) => remember(pod, undefined),
    refused: (pod, fleet, againMs) => remember(pod, { version: podIn(fleet, pod)?.resourceVersion, againMs }),
    doneFor(rolloutId, fleet, monotonicMs) {
      for (const [uid, { node, rolloutId: id, refused }] of labelled) {
        const pod = podIn(fleet, { node, uid })
        const isNews = refused !== undefined && (pod?.resourceVersion !== refused.version || refused.againMs <= monotonicMs)
        // A pod whose labels the watch shows, or that is gone, need not be remembered.
        if (pod === undefined || pod.rolloutId === id || isNews) labelled.delete(uid)
      }
      return new Set([...labelled].flatMap(([uid, one]) => (one.rolloutId === rolloutId ? [uid] : [])))
    },
    nextTryMs: () => Math.min(...[...labelled.values()].map(({ refused }) => refused?.againMs ?? Number.POSITIVE_INFINITY)),
  }
}

function podIn(
  fleet: FleetView,
  { node, uid }: Pick<PodLabels, 'node' | 'uid'>,
): { readonly resourceVersion: string; readonly rolloutId: string | undefined } | undefined {
  return nodeInView(fleet, node)?.pods.find((pod) => pod.uid === uid)
}
