import type { Clock } from '@tranche/clock'
import { isForbidden, type KubeClient } from '@tranche/kube-client'
import { type EventObject, readObjectEvents, type StampedNodeEvent } from '@tranche/release-client'
import { LRUCache } from 'lru-cache'
import { lifetime } from '../limits/lifetime.ts'

/**
 * Reads the Kubernetes events about one pod or node, newest first; null if the account of the API may not list them. Rejects as
 * {@link KubeClient} does.
 */
export type ReadObjectEvents = (object: EventObject) => Promise<readonly StampedNodeEvent[] | null>

/** Time for which events are not read again, in milliseconds: many tabs may show the same node. */
const FRESH_MS = 2_000
/** Maximum number of cached answers. */
const MOST_ANSWERS = 64

/**
 * Reads from the API server when asked: these are most events of a cluster, so the watch of {@link watchEvents} leaves them out. Concurrent
 * requests share one read.
 */
export function createObjectEventReads(client: KubeClient, clock: Clock): ReadObjectEvents {
  const known = new LRUCache<string, { readonly events: readonly StampedNodeEvent[] | null }, EventObject>({
    ...lifetime(clock, FRESH_MS),
    max: MOST_ANSWERS,
    // A read whose place another one takes still ends with its answer.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _before, { context }) => ({ events: await readIfAllowed(client, context) }),
  })
  return async (object) => {
    const { kind, namespace, name, uid = '' } = object
    return (await known.forceFetch(JSON.stringify([kind, namespace, name, uid]), { context: object })).events
  }
}

async function readIfAllowed(client: KubeClient, object: EventObject): Promise<readonly StampedNodeEvent[] | null> {
  try {
    return await readObjectEvents({ client }, object)
  } catch (error) {
    if (isForbidden(error)) return null
    throw error
  }
}
