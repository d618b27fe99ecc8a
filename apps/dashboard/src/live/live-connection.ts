import { type ApiClient, type ApiKey, ApiProblemError, type StreamPosition } from '@tranche/api-client'
import type { StreamMessage } from '@tranche/api-schema'
import type { Clock, Timer } from '@tranche/clock'
import type { WritableNodeStore } from './node-store.ts'
import { textOfKey, type WritableReleaseStore } from './release-store.ts'

/** Dependencies of {@link createLiveConnection}. */
export interface LiveOptions {
  readonly api: Pick<ApiClient, 'stream'>
  readonly clock: Clock
  readonly releases: WritableReleaseStore
  readonly nodes: WritableNodeStore
  /** Server time, in epoch milliseconds. */
  readonly nowMs: () => number
  /** The server no longer accepts the user's credentials. */
  readonly onSignedOut: () => void
}

/** The one stream of a tab. */
export interface LiveConnection {
  /** Starts it. @returns function that ends it */
  open(): () => void
  /** Adds the nodes of one Rollout to the stream; null: of none. */
  showNodes(key: ApiKey | null): void
}

/** Time without any byte after which the stream counts as lost, in milliseconds; the server sends a heartbeat every 15 s. */
const IDLE_MS = 20_000
/** Time for which nodes are still followed after their page was left, in milliseconds: the next page often shows the same. */
const LEAVE_MS = 2_000

/**
 * Keeps the stores current by one stream. A lost stream is reopened, and the stores say since when their data are stale. Other nodes need
 * another stream, which replaces the present one, and resumes from where that one was: the fleet is not sent again.
 */
export function createLiveConnection(options: LiveOptions): LiveConnection {
  let shown: ApiKey | null = null
  let running: AbortController | null = null
  let leaving: Timer | undefined
  // Shared by all streams: opening another one makes no data newer.
  const progress: Progress = { confirmedMs: options.nowMs(), position: { lastEventId: '' } }
  const start = (): AbortController => {
    const ending = new AbortController()
    void follow(options, progress, shown, ending.signal)
    return ending
  }
  const show = (key: ApiKey | null): void => {
    shown = key
    options.nodes.show(key)
    if (running === null) return
    running.abort()
    running = start()
  }
  return {
    open() {
      running = start()
      return () => {
        leaving?.cancel()
        running?.abort()
        running = null
      }
    },
    showNodes(key) {
      leaving?.cancel()
      if (isSame(key, shown)) return
      if (key === null) leaving = options.clock.setTimer(LEAVE_MS, () => show(null))
      else show(key)
    },
  }
}

function isSame(a: ApiKey | null, b: ApiKey | null): boolean {
  return a === null || b === null ? a === b : textOfKey(a) === textOfKey(b)
}

/** How far the data in the stores go. */
interface Progress {
  /** Place of the stream in what the stores have. */
  readonly position: StreamPosition
  /** Time at which the server last confirmed that it had sent everything, in epoch milliseconds of the server. */
  confirmedMs: number
}

async function follow(options: LiveOptions, progress: Progress, key: ApiKey | null, signal: AbortSignal): Promise<void> {
  const { api, releases, nodes, nowMs, onSignedOut } = options
  const stale = (error: unknown): { readonly staleSinceMs: number; readonly why: string } => ({
    staleSinceMs: progress.confirmedMs,
    why: error instanceof Error ? error.message : String(error),
  })
  const take = (message: StreamMessage): void => {
    if (message.type === 'nodes') nodes.apply(message)
    else releases.apply(message)
  }
  try {
    const messages = api.stream({
      signal,
      idleMs: IDLE_MS,
      position: progress.position,
      ...(key !== null && { nodes: key }),
      onOpen: () => releases.setLive({ kind: 'live' }),
      onComplete: () => releases.complete(),
      onCurrent() {
        progress.confirmedMs = nowMs()
      },
      onLost: (error) => releases.setLive({ kind: 'reconnecting', ...stale(error) }),
    })
    for await (const message of messages) {
      // A message that was on its way when another stream began belongs to no state any more.
      if (signal.aborted) return
      take(message)
    }
  } catch (error) {
    if (signal.aborted) return
    const status = error instanceof ApiProblemError ? error.status : null
    // The right to the nodes may be withdrawn while that to the fleet stays.
    if (status === 403 && key !== null) return follow(options, progress, null, signal)
    releases.setLive({ kind: 'ended', ...stale(error) })
    if (status === 401) onSignedOut()
  }
}
