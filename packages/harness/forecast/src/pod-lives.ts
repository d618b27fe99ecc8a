import { type Pod, PRE_PULL_LABEL, parseTime } from '@tranche/kube-types'
import { lifeCycleOf, type PodLife, readPodSettings } from '@tranche/sim-nodes'
import type { PodTimes } from './pod-times.ts'
import { meanOf } from './statistics.ts'
import { isStarting } from './stored-objects.ts'

/** Inputs for the life cycles of pods in the copy. */
export interface LivesOptions {
  readonly times: PodTimes
  /** Pods of the snapshot. */
  readonly pods: readonly Pod[]
  /** Time of the snapshot, in epoch milliseconds. */
  readonly takenAtMs: number
  /** Milliseconds since the start of the simulation. */
  readonly nowMs: () => number
  /** Whether its containers crash repeatedly soon after they start. */
  readonly crashes: (pod: Pod) => boolean
  /** Whether the nodes are simulated, so that the image tag decides how pods behave. */
  readonly simulated: ReadonlySet<string>
}

/** Grid of the times at which pods become Ready: least and greatest spacing in milliseconds, and spacing relative to a pod's stop and start. */
const [LEAST_TICK_MS, MOST_TICK_MS, TICK_PART] = [100, 500, 1 / 20]

/**
 * Decides the life cycle of each pod. Pods found Ready or failing stay so until they are deleted. Pods found starting need the rest of
 * their time. A new pod takes as long as the old one on its node took. The behaviour of a new version is known on simulated nodes only.
 */
export function createLives({ times, pods, takenAtMs, nowMs, crashes, simulated }: LivesOptions): (pod: Pod) => PodLife {
  const found = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  const untilTick = createTicks(times, nowMs)
  return (pod) => {
    const node = pod.spec?.nodeName ?? ''
    const before = found.get(pod.metadata.uid)
    const wholeMs = times.startMsOf(node)
    const startMs =
      before === undefined ? wholeMs : Math.max(0, wholeMs - (takenAtMs - (parseTime(before.metadata.creationTimestamp) ?? Number.NaN)))
    const own = readPodSettings((simulated.has(node) ? pod.metadata.annotations : undefined) ?? {}, node, '')
    const settings = {
      ...own,
      startMs: untilTick(Number.isFinite(startMs) ? startMs : wholeMs),
      readinessMs: 0,
      stopMs: times.stop.ms,
      termNotReady: false,
    }
    // Nothing in a snapshot says how long a pull takes. It happens while the old pod still runs.
    if (pod.metadata.labels?.[PRE_PULL_LABEL] !== undefined) return { name: 'prompt', settings: { ...settings, startMs: 0 } }
    if (before !== undefined && !isStarting(before)) return { name: 'stays', settings }
    if (before === undefined && crashes(pod)) return { name: 'bad-crash', settings }
    const lifeCycle = simulated.has(node) ? lifeCycleOf(imagesOf(pod), own.mayFail) : 'ok'
    return { name: lifeCycle === 'ok' ? 'prompt' : lifeCycle, settings }
  }
}

function imagesOf({ spec }: Pod): readonly string[] {
  const { containers = [], initContainers = [] } = (spec ?? {}) as {
    readonly containers?: readonly { readonly image?: string }[]
    readonly initContainers?: readonly { readonly image?: string }[]
  }
  return [...initContainers, ...containers].flatMap(({ image }) => image ?? [])
}

/**
 * Aligns times to a grid, because each distinct time at which a pod becomes Ready costs one evaluation by every watcher. The next pod
 * compensates for the difference, so the total stays the same.
 *
 * @returns function from a delay to a delay that ends on the grid
 */
function createTicks({ believed, startMsOf, stop }: PodTimes, nowMs: () => number): (ms: number) => number {
  const meanMs = believed.length === 0 ? startMsOf('') : meanOf(believed)
  const tickMs = Math.min(MOST_TICK_MS, Math.max(LEAST_TICK_MS, (meanMs + stop.ms) * TICK_PART))
  let owedMs = 0
  return (ms) => {
    const wantedMs = nowMs() + ms + owedMs
    const atMs = Math.max(Math.round(wantedMs / tickMs) * tickMs, nowMs())
    owedMs = wantedMs - atMs
    return atMs - nowMs()
  }
}
