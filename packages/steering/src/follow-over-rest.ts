import type { ApiClient } from '@tranche/api-client'
import { type Clock, sleep } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import { createBell } from './bell.ts'
import type { AskOptions, FollowEnd, FollowOptions, ReleasePart, ReleaseParts, SeenRelease } from './release-desk.ts'

/** What following over REST takes. */
export interface RestReader {
  readonly client: Pick<ApiClient, 'stream'>
  readonly clock: Clock
  readonly read: { readonly [P in ReleasePart]: (key: ObjectKey, options: AskOptions) => Promise<ReleaseParts[P]> }
}

/** Changes that follow one another sooner are shown together, in milliseconds. */
const SHORTEST_GAP_MS = 200
/** Of all the time, reads take at most this share: a large fleet is read less often. */
const BUSY_SHARE = 0.2
/** What the stream does not tell of, such as which node is down, is read again after so long, in milliseconds. */
const QUIET_MS = 10_000

/**
 * Follows one Rollout by the stream of the REST API: whenever it tells of a change, what was asked for is read again. A stream that is
 * lost is opened anew by itself; meanwhile it is read every ten seconds.
 *
 * @see ReleaseDesk.follow
 */
export async function* followOverRest<P extends ReleasePart>(
  { client, clock, read }: RestReader,
  key: ObjectKey,
  { part, signal, deadlineMs }: FollowOptions<P>,
): AsyncGenerator<SeenRelease<P>, FollowEnd, undefined> {
  const ended = new AbortController()
  const until = AbortSignal.any([signal, ended.signal])
  const bell = createBell(clock)
  until.addEventListener('abort', () => bell.ring(), { once: true })
  let isRefused = false
  const listen = async (): Promise<void> => {
    try {
      for await (const _ of client.stream({ namespace: key.namespace, name: key.name, signal: until, onLost: () => bell.ring() }))
        bell.ring()
    } catch {
      // What keeps it from being heard for good, the reads say too, or they go on without it.
      isRefused = !until.aborted
      bell.ring()
    }
  }
  void listen()
  let latest: ReleaseParts[P] | undefined
  try {
    while (!signal.aborted && !isRefused) {
      const beganMs = clock.monotonicMs()
      let trouble: unknown
      try {
        latest = await read[part](key, { signal, deadlineMs })
      } catch (error) {
        if (signal.aborted) return 'stopped'
        if (latest === undefined || !mayPass(error)) throw error
        trouble = error
      }
      const spentMs = clock.monotonicMs() - beganMs
      yield { value: latest, trouble }
      await sleep(clock, Math.max(SHORTEST_GAP_MS, spentMs / BUSY_SHARE), signal).catch(() => {})
      await bell.wait(QUIET_MS)
    }
    return isRefused && !signal.aborted ? 'unwatchable' : 'stopped'
  } finally {
    ended.abort()
  }
}

function mayPass(error: unknown): boolean {
  return isAppError(error) && error.remedy === 'retry'
}
