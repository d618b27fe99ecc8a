import type { DrainConsumer } from '@tranche/api-schema'
import { type Consumer, consumersOf, isEvictable, needsDrivers, type PodOnNode } from '@tranche/drain'
import type { KubeClient } from '@tranche/kube-client'
import type { OwnerOfObjects } from '@tranche/kube-types'
import { createDriverReader } from './read-drivers.ts'
import { readPodsOn } from './read-pods-on.ts'

/** Reads the consumers of an agent on a node. */
export interface ConsumerReader {
  /**
   * One request while there are consumers, two to find that there are none; further ones for the claims of pods.
   *
   * @throws {KubeStatusError | AppError} if the API server rejects a request, or gives no clear response
   */
  read(asked: ConsumersAsked, signal: AbortSignal): Promise<readonly Consumer[]>
}

/** Which consumers to read, and where. */
export interface ConsumersAsked {
  readonly node: string
  readonly agent: OwnerOfObjects
  readonly rules: readonly DrainConsumer[]
}

/** Creates a reader, for one process. */
export function createConsumerReader(client: KubeClient): ConsumerReader {
  const drivers = createDriverReader(client)

  async function readOnce({ node, agent, rules }: ConsumersAsked, mayBeOld: boolean, signal: AbortSignal): Promise<readonly Consumer[]> {
    const pods = await readPodsOn(client, node, { mayBeOld, signal })
    const found: PodOnNode[] = []
    // One pod after the other: claims of many pods at once would use all connections of the process.
    for (const pod of pods.filter((one) => isEvictable(one, agent)))
      found.push({ pod, claimedDrivers: needsDrivers(rules) ? await drivers.read(pod, signal) : [] })
    return consumersOf(rules, agent, found)
  }

  return {
    async read(asked, signal) {
      if (asked.rules.length === 0) return []
      // A list from a cache may be older than the cordon, so it cannot show that no consumer came meanwhile.
      const seen = await readOnce(asked, true, signal)
      return seen.length > 0 ? seen : readOnce(asked, false, signal)
    },
  }
}
