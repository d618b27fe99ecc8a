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
  /** Milliseconds from the beginning. */
  readonly nowMs: () => number
  /** Its containers end soon after they have begun, again and again. */
  readonly crashes: (pod: Pod) => boolean
}

/**
 * Moments at which pods become Ready, in milliseconds. What is measured is whole seconds; pods that become Ready at the very same moment
 * cost one look of everybody who counts, where a few milliseconds between them cost a look each.
 */
const TICK_MS = 100

/**
 * Says of each pod what becomes of it: those that were found Ready or in trouble stay as they are until they are deleted, those that were
 * found starting need the rest of their time, and every new one takes as long as the one on its node took.
 */
export function createLives({ times, pods, takenAtMs, nowMs, crashes }: LivesOptions): (pod: Pod) => PodLife {
  const found = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  const untilTick = (ms: number): number => Math.max(0, Math.round((nowMs() + ms) / TICK_MS) * TICK_MS - nowMs())
  return (pod) => {
    const node = pod.spec?.nodeName ?? ''
    const before = found.get(pod.metadata.uid)
    const wholeMs = times.startMsOf(node)
    const startMs =
      before === undefined ? wholeMs : Math.max(0, wholeMs - (takenAtMs - Date.parse(before.metadata.creationTimestamp ?? '')))
    const settings = {
      ...readPodSettings({}, node, ''),
      startMs: untilTick(Number.isFinite(startMs) ? startMs : wholeMs),
      readinessMs: 0,
      stopMs: times.stop.ms,
      termNotReady: false,
    }
    if (before !== undefined) return { name: isStarting(before) ? 'prompt' : 'stays', settings }
    return { name: crashes(pod) ? 'bad-crash' : 'prompt', settings }
  }
}
