import type { Rollout } from '@tranche/api-schema'
import { sleep } from '@tranche/clock'
import { isForbidden, resourcePaths } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import { getOrNone, type ReadOptions } from './read-action-facts.ts'
import type { ReleaseClientPorts } from './action-order.ts'

/** Rollout to follow. */
export interface Followed {
  readonly key: ObjectKey
  /** Last known state; only later ones are yielded. @default it is read, and yielded first */
  readonly from?: Rollout
}

/** Delay before the Rollout is read again after a broken watch, in milliseconds. */
const READ_AGAIN_MS = 500
/** Read interval for a user without permission to watch, in milliseconds. */
const POLL_MS = 1_000

/**
 * Follows one Rollout by a watch of it alone; a broken watch is reopened after a read. A user who may read but not watch it follows it by
 * reads.
 *
 * @returns each state, and undefined as the last value once it is gone
 * @throws the signal's reason when it aborts; whatever a read throws
 */
export async function* followRollout(
  ports: Pick<ReleaseClientPorts, 'client' | 'clock'>,
  { key, from }: Followed,
  options: ReadOptions & { readonly signal: AbortSignal },
): AsyncGenerator<Rollout | undefined, void, undefined> {
  const { client, clock } = ports
  let seen = from
  let mayWatch = true
  for (;;) {
    if (seen === undefined) {
      seen = await getOrNone<Rollout>(client, resourcePaths.rollouts, key, options)
      yield seen
      if (seen === undefined) return
    }
    if (mayWatch) {
      const ended = yield* watchFrom(ports, { key, seen }, options.signal)
      if (ended === 'gone') return
      mayWatch = ended !== 'forbidden'
    }
    seen = undefined
    await sleep(clock, mayWatch ? READ_AGAIN_MS : POLL_MS, options.signal)
  }
}

async function* watchFrom(
  { client }: Pick<ReleaseClientPorts, 'client'>,
  { key, seen }: { readonly key: ObjectKey; readonly seen: Rollout },
  signal: AbortSignal,
): AsyncGenerator<Rollout | undefined, 'gone' | 'forbidden' | 'broken', undefined> {
  const { resourceVersion } = seen.metadata
  const scope = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` }
  try {
    for await (const event of client.watch<Rollout>(resourcePaths.rollouts, { ...scope, resourceVersion, signal })) {
      if (event.type === 'BOOKMARK') continue
      if (event.type === 'DELETED') {
        yield undefined
        return 'gone'
      }
      yield event.object
    }
    return 'broken'
  } catch (error) {
    if (signal.aborted) throw error
    return isForbidden(error) ? 'forbidden' : 'broken'
  }
}
