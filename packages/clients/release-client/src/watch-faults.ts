import type { Clock } from '@tranche/clock'
import { isExpired, isForbidden, isNotFound, type KubeClient, type ResourcePath, type WatchEvent } from '@tranche/kube-client'

/** Dependencies of {@link watchFaults}. */
export interface WatchFaultsOptions {
  readonly client: KubeClient
  readonly clock: Clock
  /** Failures after this signal has aborted are not faults. */
  readonly until: AbortSignal
  /** Limit of each request of a list, in milliseconds. @default as KubeClient */
  readonly deadlineMs: number | undefined
  /** Called when the current fault changes, or there is none any more. */
  readonly changed: () => void
}

/** Faults of lists and watches that continue in spite of them. */
export interface WatchFaults {
  /** The same client, with fault tracking. */
  readonly client: KubeClient
  /** Cause of the oldest current fault; undefined if there is none. */
  current(): unknown
  /** Whether the API server has denied permission for one, or does not serve it. */
  forbidden(): boolean
}

/** Time after which an open watch counts as healthy even without events, in milliseconds. */
const STANDS_AFTER_MS = 1_000

/** Tracks the faults of a client's lists and watches. A version that is too old (410) is not a fault: a list follows. */
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
