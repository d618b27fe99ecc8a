import { drainDefaults, type DrainRules, durationMs } from '@tranche/api-schema'
import type { Clock } from '@tranche/clock'
import { type Consumer, consumersOf, type DrainedPermit, drainText, type EvictionRefusal, isEvictable, needsDrivers } from '@tranche/drain'
import type { KubeClient } from '@tranche/kube-client'
import type { OwnerOfObjects, Pod } from '@tranche/kube-types'
import { cordonNode } from './cordons.ts'
import { evictPod } from './evict-pod.ts'
import { createDriverReader } from './read-drivers.ts'
import { readPodsOn } from './read-pods-on.ts'

/** A node to drain for a permit. */
export interface NodeToDrain {
  readonly node: string
  /** DaemonSet whose pod the permit is for. */
  readonly agent: OwnerOfObjects
  readonly rules: DrainRules
  readonly drained: DrainedPermit
}

/** How far the drain of a node is. */
export type DrainReading =
  /** No consumer is on the node. `isLate`: some are, but the time is over, and the policy says to continue. */
  | { readonly kind: 'ready'; readonly isLate: boolean; readonly message: string }
  /** Consumers are leaving, or cannot leave yet: read again after `againMs`. */
  | { readonly kind: 'pending'; readonly againMs: number; readonly message: string }
  /** They did not leave in time, and the policy says to hold. */
  | { readonly kind: 'blocked'; readonly message: string }

/** Drains nodes. */
export interface NodeDrainer {
  /**
   * Cordons a node and evicts its consumers. It waits for none of them: the caller calls again until the node is drained, and then makes it
   * schedulable with {@link uncordonNode}. The time limit runs from the first call for a permit, by the clock of this process.
   *
   * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
   */
  drain(job: NodeToDrain, signal: AbortSignal): Promise<DrainReading>
}

/** Delays until a node is read again, in milliseconds: each is twice the one before. */
const FIRST_AGAIN_MS = 2_000
const LONGEST_AGAIN_MS = 15_000

/** Maximum number of evictions at once. */
const EVICTIONS_AT_ONCE = 16

/** Maximum number of nodes whose drains are remembered; a forgotten one gets its whole time once more. */
const MOST_DRAINS = 2_000

/** A drain in progress. */
interface Progress {
  readonly permit: DrainedPermit['permit']
  readonly sinceMs: number
  readonly refusals: readonly EvictionRefusal[]
  readonly againMs: number
}

/** Creates a drainer, for one process. */
export function createNodeDrainer(client: KubeClient, clock: Clock): NodeDrainer {
  const drivers = createDriverReader(client)
  const drains = new Map<string, Progress>()

  function progressOf({ node, drained: { release, permit } }: NodeToDrain): Progress {
    const before = drains.get(keyOfDrain(node, release.uid))
    if (before?.permit.podUid === permit.podUid && before.permit.podResourceVersion === permit.podResourceVersion) return before
    return { permit, sinceMs: clock.monotonicMs(), refusals: [], againMs: FIRST_AGAIN_MS }
  }

  function remember({ node, drained: { release } }: NodeToDrain, progress: Progress): void {
    if (drains.size >= MOST_DRAINS) drains.clear()
    drains.set(keyOfDrain(node, release.uid), progress)
  }

  async function readConsumers({ node, agent, rules: { consumers = [] } }: NodeToDrain, signal: AbortSignal): Promise<readonly Consumer[]> {
    const read = async (mayBeOld: boolean): Promise<readonly Consumer[]> => {
      const pods = await readPodsOn(client, node, { mayBeOld, signal })
      const candidates = pods.filter((pod) => isEvictable(pod, agent))
      const driversOf = async (pod: Pod): Promise<readonly string[]> => (needsDrivers(consumers) ? drivers.read(pod, signal) : [])
      const known = await Promise.all(candidates.map(async (pod) => ({ pod, claimedDrivers: await driversOf(pod) })))
      return consumersOf(consumers, agent, known)
    }
    // The first list may be older than the cordon, so it cannot show that no consumer came meanwhile.
    const seen = await read(true)
    return seen.length > 0 ? seen : read(false)
  }

  async function step(job: NodeToDrain, { sinceMs, refusals }: Progress, signal: AbortSignal): Promise<Step> {
    const { cordon = drainDefaults.cordon, consumers: rules = [], timeout = drainDefaults.timeout } = job.rules
    const isTimeOver = clock.monotonicMs() - sinceMs >= durationMs(timeout)
    const taken = cordon ? await cordonNode(client, job.node, job.drained, signal) : null
    if (taken !== null) return { kind: 'waiting', isTimeOver, refusals, message: `BatchRelease ${taken.namespace}/${taken.name} drains it` }
    const consumers = rules.length === 0 ? [] : await readConsumers(job, signal)
    if (consumers.length === 0) return { kind: 'drained' }
    const answers = isTimeOver ? refusals : await evictFirst(client, consumers, signal)
    return { kind: 'waiting', isTimeOver, refusals: answers, message: drainText(consumers, answers) }
  }

  return {
    async drain(job, signal) {
      const progress = progressOf(job)
      remember(job, progress)
      const end = await step(job, progress, signal)
      if (end.kind === 'waiting' && !end.isTimeOver) {
        const { againMs } = progress
        remember(job, { ...progress, refusals: end.refusals, againMs: Math.min(LONGEST_AGAIN_MS, 2 * againMs) })
        return { kind: 'pending', againMs, message: end.message }
      }
      drains.delete(keyOfDrain(job.node, job.drained.release.uid))
      if (end.kind === 'drained') return { kind: 'ready', isLate: false, message: '' }
      const { onTimeout = drainDefaults.onTimeout, timeout = drainDefaults.timeout } = job.rules
      const message = `not drained within ${timeout}: ${end.message}`
      return onTimeout === 'Continue' ? { kind: 'ready', isLate: true, message } : { kind: 'blocked', message }
    },
  }
}

/** Evicts the first consumers that are not leaving yet. @returns the refusals */
async function evictFirst(client: KubeClient, consumers: readonly Consumer[], signal: AbortSignal): Promise<readonly EvictionRefusal[]> {
  const staying = consumers.filter(({ isLeaving }) => !isLeaving).slice(0, EVICTIONS_AT_ONCE)
  const answers = await Promise.all(staying.map(async (pod) => evictPod(client, pod, signal)))
  return answers.filter((answer) => answer !== null)
}

type Step =
  | { readonly kind: 'drained' }
  | { readonly kind: 'waiting'; readonly isTimeOver: boolean; readonly refusals: readonly EvictionRefusal[]; readonly message: string }

function keyOfDrain(node: string, releaseUid: string): string {
  return `${node}/${releaseUid}`
}
