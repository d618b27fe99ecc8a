import type { Pod } from '@tranche/kube-types'
import { lifeCycleOf, type PodLife, readPodSettings } from '@tranche/sim-nodes'
import type { PodTimes } from './pod-times.ts'
import { meanOf } from './statistics.ts'
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
  /** Nodes of a simulator, where the tag of an image decides what becomes of its pods. */
  readonly simulated: ReadonlySet<string>
}

/** Moments at which pods become Ready lie so far apart, in milliseconds, by the time that one pod takes to stop and to start. */
const [LEAST_TICK_MS, MOST_TICK_MS, TICK_PART] = [100, 500, 1 / 20]

/**
 * Says of each pod what becomes of it: those that were found Ready or in trouble stay as they are until they are deleted, those that were
 * found starting need the rest of their time, and every new one takes as long as the one on its node took. What a new version does is
 * known on simulated nodes alone.
 */
export function createLives({ times, pods, takenAtMs, nowMs, crashes, simulated }: LivesOptions): (pod: Pod) => PodLife {
  const found = new Map(pods.map((pod) => [pod.metadata.uid, pod]))
  const untilTick = createTicks(times, nowMs)
  return (pod) => {
    const node = pod.spec?.nodeName ?? ''
    const before = found.get(pod.metadata.uid)
    const wholeMs = times.startMsOf(node)
    const startMs =
      before === undefined ? wholeMs : Math.max(0, wholeMs - (takenAtMs - Date.parse(before.metadata.creationTimestamp ?? '')))
    const own = readPodSettings((simulated.has(node) ? pod.metadata.annotations : undefined) ?? {}, node, '')
    const settings = {
      ...own,
      startMs: untilTick(Number.isFinite(startMs) ? startMs : wholeMs),
      readinessMs: 0,
      stopMs: times.stop.ms,
      termNotReady: false,
    }
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
 * Puts moments on a grid: pods that become Ready at the very same moment cost one look of everybody who counts, where a few milliseconds
 * between them cost a look each. What one pod gains or loses by that is made up for by the next, so that all together take as long.
 *
 * @returns for a time from now, one that ends on the grid
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
