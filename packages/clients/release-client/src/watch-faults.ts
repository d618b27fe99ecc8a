import type { Clock } from '@tranche/clock'
import { isExpired, isForbidden, isNotFound, type KubeClient, type ResourcePath, type WatchEvent } from '@tranche/kube-client'

/** What is listened to. */
export interface WatchFaultsOptions {
  readonly client: KubeClient
  readonly clock: Clock
  /** What fails once it has aborted is no fault. */
  readonly until: AbortSignal
  /** For each request of a list, in milliseconds. @default as KubeClient */
  readonly deadlineMs: number | undefined
  /** Hears when another fault stands than before, or none. */
  readonly changed: () => void
}

/** The faults of lists and watches that others carry on through. */
export interface WatchFaults {
  /** The same client, listened to. */
  readonly client: KubeClient
  /** What broke the oldest of those that are down now; undefined where all stand. */
  current(): unknown
  /** Whether the API server has refused one for want of rights, or does not serve it. */
  forbidden(): boolean
}

/** A watch that has not failed for so long stands, though nothing happens, in milliseconds. */
const STANDS_AFTER_MS = 1_000

/** Listens to a client's lists and watches. A version that is too old (410) is no fault: what follows is a list. */
export function watchFaults({ client, clock, until, deadlineMs, changed }: WatchFaultsOptions): WatchFaults {
  const down = new Map<string, unknown>()
  let refused = false
  return {
    client: { ...client, list, watch: (resource, options) => listened(resource, client.watch(resource, options)) },
    current: () => down.values().next().value,
    forbidden: () => refused,
  }

  async function list<T>(resource: ResourcePath, options: Parameters<typeof client.list<T>>[1]): ReturnType<typeof client.list<T>> {
    try {
      const answer = await client.list<T>(resource, { ...options, deadlineMs })
      stands(resource)
      return answer
    } catch (error) {
      fails(resource, error)
      throw error
    }
  }

  async function* listened<T>(resource: ResourcePath, events: AsyncIterable<WatchEvent<T>>): AsyncIterable<WatchEvent<T>> {
    const timer = clock.setTimer(STANDS_AFTER_MS, () => stands(resource))
    try {
      for await (const event of events) {
        stands(resource)
        yield event
      }
    } catch (error) {
      fails(resource, error)
      throw error
    } finally {
      timer.cancel()
    }
  }

  function stands({ plural }: ResourcePath): void {
    if (down.delete(plural)) changed()
  }

  function fails({ plural }: ResourcePath, error: unknown): void {
    if (until.aborted || isExpired(error)) return
    refused ||= isForbidden(error) || isNotFound(error)
    down.set(plural, error)
    changed()
  }
}
