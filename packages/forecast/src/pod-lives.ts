import type { Pod } from '@tranche/kube-types'
import { type PodLife, readPodSettings } from '@tranche/sim-nodes'
import type { PodTimes } from './pod-times.ts'
import { isStarting } from './stored-objects.ts'

/** What pods of the copy live by. */
export interface LivesOptions {
  readonly times: PodTimes
  /** The pods of the snapshot. */
  readonly pods: readonly Pod[]
  /** Epoch milliseconds of the snapshot. */
  readonly takenAtMs: number
  /** Its containers end soon after they have begun, again and again. */
  readonly crashes: (pod: Pod) => boolean
}

/**
 * Says of each pod what becomes of it: those that were found Ready or in trouble stay as they are until they are deleted, those that were
 * found starting need the rest of their time, and every new one takes as long as the one on its node took.
 */
export function createLives({ times, pods, takenAtMs, crashes }: LivesOptions): (pod: Pod) => PodLife {
  const found = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  return (pod) => {
    const node = pod.spec?.nodeName ?? ''
    const before = found.get(pod.metadata.uid)
    const wholeMs = times.startMsOf(node)
    const startMs =
      before === undefined ? wholeMs : Math.max(0, wholeMs - (takenAtMs - Date.parse(before.metadata.creationTimestamp ?? '')))
    const settings = {
      ...readPodSettings({}, node, ''),
      startMs: Number.isFinite(startMs) ? startMs : wholeMs,
      readinessMs: 0,
      stopMs: times.stopMs,
      termNotReady: false,
    }
    if (before !== undefined) return { name: isStarting(before) ? 'prompt' : 'stays', settings }
    return { name: crashes(pod) ? 'bad-crash' : 'prompt', settings }
  }
}
