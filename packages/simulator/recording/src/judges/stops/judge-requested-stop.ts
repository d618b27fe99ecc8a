import type { RecordedWrite } from '../../record/recorded-write.ts'
import type { DaemonSetStory } from '../../world/daemon-set-story.ts'
import type { RecordedRelease, RecordedRollout } from '../../world/stops.ts'
import type { Deletion } from '../../world/world.ts'
import type { Judge, JudgeParts } from '../judge-parts.ts'
import { quietAfter } from './quiet-time.ts'
import { releaseRequests, type Request, rolloutRequests } from './stop-requests.ts'

/**
 * G9: each stop that a user requests is acknowledged in time, and from then on nothing is deleted until the user lifts it.
 *
 * Derived from what users write on Rollouts and BatchReleases. A status can end the time that a stop has, and nothing else. Where no
 * status is true, the stop counts from the end of that time on. Judged only if the query says when there were faults.
 */
export function createRequestedStopJudge(parts: JudgeParts): Judge {
  return new RequestedStopJudge(parts)
}

/** A request that the user has not lifted. */
interface Standing extends Request {
  readonly sinceMs: number
  /** Generation of its object that first contained it. */
  readonly generation: number
  /** By when it must be acknowledged: Infinity if there was never enough time without faults. */
  readonly dueMs: number
  isAcknowledged: boolean
  isReported: boolean
}

/** Object with its requests, by kind. */
interface Asking {
  readonly name: string
  readonly namespace: string | undefined
  readonly workload: string
  readonly isRollout: boolean
  readonly standing: Map<string, Standing>
}

class RequestedStopJudge implements Judge {
  readonly #parts: JudgeParts
  /** By kind, namespace and name of the object. */
  readonly #asking = new Map<string, Asking>()

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  onDeletion({ daemonSet, atMs, pod }: Deletion): void {
    for (const asking of this.#asking.values()) {
      if (!isAbout(asking, daemonSet)) continue
      for (const one of asking.standing.values()) {
        if (one.type === 'abort' || (!one.isAcknowledged && atMs <= one.dueMs)) continue
        const text = `a user ${one.text} ${secondsBetween(one.sinceMs, atMs)} s before, and has not lifted it`
        this.#parts.breach({ guarantee: 'G9', atMs, node: pod.node, text })
        break
      }
    }
  }

  onWrite(write: RecordedWrite): void {
    if (this.#parts.query.disturbances === undefined) return
    this.#judgeUntil(write.t)
    if (write.kind === 'Rollout') this.#followRollout(write)
    else if (write.kind === 'BatchRelease') this.#followRelease(write)
  }

  atEnd(lastMs: number): void {
    this.#judgeUntil(lastMs)
  }

  #judgeUntil(nowMs: number): void {
    for (const { name, standing } of this.#asking.values())
      for (const one of standing.values()) {
        if (one.isAcknowledged || one.isReported || nowMs <= one.dueMs) continue
        one.isReported = true
        const text = `a user ${one.text} on ${name}, and ${secondsBetween(one.sinceMs, one.dueMs)} s later, after enough time without faults, no status says so`
        this.#parts.breach({ guarantee: 'G9', atMs: one.dueMs, text })
      }
  }

  #followRollout(write: RecordedWrite): void {
    const rollout = write.o as unknown as RecordedRollout
    const { metadata, spec, status } = rollout
    const key = `Rollout ${write.namespace}/${metadata.name}`
    if (write.type === 'DELETED' || spec.workloadRef === undefined) return void this.#asking.delete(key)
    const parts = { name: metadata.name, namespace: write.namespace, workload: spec.workloadRef.name, isRollout: true }
    this.#follow(
      { key, parts, write, generation: metadata.generation ?? 0, observed: status?.observedGeneration ?? 0 },
      rolloutRequests(rollout),
    )
  }

  /** Only BatchReleases written by hand: for all others, the Rollout has the requests. */
  #followRelease(write: RecordedWrite): void {
    const release = write.o as RecordedRelease
    const { metadata, spec, status } = release
    const key = `BatchRelease ${write.namespace}/${metadata?.name}`
    const isOurs = metadata?.ownerReferences !== undefined
    if (write.type === 'DELETED' || isOurs || spec?.workloadRef === undefined) return void this.#asking.delete(key)
    const parts = { name: metadata?.name ?? '', namespace: write.namespace, workload: spec.workloadRef.name, isRollout: false }
    this.#follow(
      { key, parts, write, generation: metadata?.generation ?? 0, observed: status?.observedGeneration ?? 0 },
      releaseRequests(release),
    )
  }

  #follow({ key, parts, write, generation, observed }: Followed, requests: readonly Request[]): void {
    const asking = this.#asking.get(key) ?? { ...parts, standing: new Map<string, Standing>() }
    for (const id of asking.standing.keys()) if (!requests.some((one) => one.id === id)) asking.standing.delete(id)
    for (const request of requests) {
      const known = asking.standing.get(request.id) ?? this.#requested(request, write.t, generation)
      // An annotation does not change the generation.
      const isObserved = request.type === 'abort' || observed >= known.generation
      const isAcknowledged = known.isAcknowledged || (request.isSaid && isObserved)
      asking.standing.set(request.id, { ...known, isAcknowledged })
    }
    if (asking.standing.size === 0) this.#asking.delete(key)
    else this.#asking.set(key, asking)
  }

  #requested(request: Request, sinceMs: number, generation: number): Standing {
    const dueMs = quietAfter(this.#parts.query.disturbances ?? [], sinceMs, request.withinMs)
    return { ...request, sinceMs, generation, dueMs, isAcknowledged: false, isReported: false }
  }
}

/** A write of an object that may have requests. */
interface Followed {
  readonly key: string
  readonly parts: Omit<Asking, 'standing'>
  readonly write: RecordedWrite
  readonly generation: number
  readonly observed: number
}

/** A DaemonSet that is bound to another Rollout is not about this one. */
function isAbout({ namespace, workload, name, isRollout }: Asking, daemonSet: DaemonSetStory): boolean {
  if (namespace !== daemonSet.namespace || workload !== daemonSet.name) return false
  const bound = daemonSet.latest?.annotations?.[BOUND]
  return isRollout ? bound === undefined || bound === name : bound === undefined
}

const BOUND = 'tranche.dev/rollout'

function secondsBetween(fromMs: number, toMs: number): number {
  return Math.round((toMs - fromMs) / 1000)
}
