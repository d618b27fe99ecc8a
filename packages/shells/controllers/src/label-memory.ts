import { type FleetView, nodeInView } from '@tranche/fleet'
import { ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import type { PodLabels } from '@tranche/planner'

/** Which pods this process has labelled, or could not, until its watch tells more. Saves requests, and guards nothing (G7). */
export interface LabelMemory {
  /** The labels are on the pod. */
  put(pod: PodLabels): void
  /** They could not be put on the pod as `fleet` shows it: it is tried again once it is shown otherwise, or from `againMs` (monotonic) on. */
  refused(pod: PodLabels, fleet: FleetView, againMs: number): void
  /** @returns the uids of the pods that are not to be labelled with this rollout-id now */
  doneFor(rolloutId: string | undefined, fleet: FleetView, monotonicMs: number): ReadonlySet<string>
  /** @returns when (monotonic) a pod is to be tried again whatever is shown; Infinity: never */
  nextTryMs(): number
}

interface Labelled {
  readonly node: string
  readonly rolloutId: string
  /** Undefined where the labels are on. */
  readonly refused: { readonly version: string | undefined; readonly againMs: number } | undefined
}

/** Builds an empty memory. */
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
        // A pod whose labels the watch has shown, or that is gone, need not be remembered.
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
