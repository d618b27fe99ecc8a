import type { ApiClient } from '@tranche/api-client'
import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import { followChanges } from './follow-changes.ts'
import type { AskOptions, FollowEnd, FollowOptions, ReleasePart, ReleaseParts, SeenRelease } from './release-client.ts'

/** Dependencies of {@link followOverRest}. */
export interface RestReader {
  readonly client: Pick<ApiClient, 'stream'>
  readonly clock: Clock
  readonly read: { readonly [P in ReleasePart]: (key: ObjectKey, options: AskOptions) => Promise<ReleaseParts[P]> }
}

/** Interval of rereading state that the stream does not report, such as nodes that are down, in milliseconds. */
const QUIET_MS = 10_000

/**
 * Follows one Rollout by the stream of the REST API, and reads the requested parts again on every change. A lost stream is reopened by
 * itself; meanwhile the parts are read every ten seconds.
 *
 * @see ReleaseClient.follow
 */
export function followOverRest<P extends ReleasePart>(
  { client, clock, read }: RestReader,
  key: ObjectKey,
  { part, signal, deadlineMs }: FollowOptions<P>,
): AsyncGenerator<SeenRelease<P>, FollowEnd, undefined> {
  let isRefused = false
  let latest: ReleaseParts[P] | undefined
  const listen = async (until: AbortSignal, changed: () => void): Promise<void> => {
    try {
      for await (const _ of client.stream({ namespace: key.namespace, name: key.name, signal: until, onLost: changed })) changed()
    } catch {
      // If the stream fails for good, the reads fail with the same error or continue without it.
      isRefused = !until.aborted
      changed()
    }
  }
  const look = async (): Promise<SeenRelease<P>> => {
    try {
      latest = await read[part](key, { signal, deadlineMs })
      return { value: latest }
    } catch (error) {
      if (latest === undefined || !mayPass(error)) throw error
      return { value: latest, trouble: error }
    }
  }
  return followChanges({
    ...{ clock, signal, quietMs: QUIET_MS },
    open({ until, changed }) {
      void listen(until, changed)
      return { look, isUnwatchable: () => isRefused }
    },
  })
}

function mayPass(error: unknown): boolean {
  return isAppError(error) && error.remedy === 'retry'
}
