import type { ApiClient } from '@tranche/api-client'
import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import { followChanges } from './follow-changes.ts'
import type { AskOptions, FollowEnd, FollowOptions, ReleasePart, ReleaseParts, SeenRelease } from './release-client.ts'

/** What following over REST takes. */
export interface RestReader {
  readonly client: Pick<ApiClient, 'stream'>
  readonly clock: Clock
  readonly read: { readonly [P in ReleasePart]: (key: ObjectKey, options: AskOptions) => Promise<ReleaseParts[P]> }
}

/** What the stream does not tell of, such as which node is down, is read again after so long, in milliseconds. */
const QUIET_MS = 10_000

/**
 * Follows one Rollout by the stream of the REST API: whenever it tells of a change, what was asked for is read again. A stream that is
 * lost is opened anew by itself; meanwhile it is read every ten seconds.
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
      // What keeps it from being heard for good, the reads say too, or they go on without it.
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
