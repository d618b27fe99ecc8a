import type { DaemonSet } from '@tranche/kube-types'
import { resources, type SimClient } from '@tranche/sim-api'

/** Resolves when orphans may be taken over. Asks the server once, when first called. @throws {AdoptionRefusedError} when not */
export type AdoptionCheck = () => Promise<void>

/** The DaemonSet is gone, going, or another than the cache has; `cause` is what the server said. The pass is tried again later. */
export class AdoptionRefusedError extends Error {
  override readonly name = 'AdoptionRefusedError'
}

/**
 * The cache may not know yet that the DaemonSet is being deleted, or is another one of the same name: then its orphans were
 * let go on purpose.
 *
 * @returns a check for one pass
 */
export function createAdoptionCheck(client: SimClient, { metadata }: DaemonSet): AdoptionCheck {
  let answer: Promise<void> | undefined

  async function ask(): Promise<void> {
    const { namespace, name, uid } = metadata
    const refuse = (reason: string, options?: ErrorOptions): never => {
      throw new AdoptionRefusedError(`DaemonSet ${namespace}/${name} can take nothing over: ${reason}`, options)
    }
    const fresh = await client
      .get(resources.daemonSets, name, namespace)
      .catch((cause: unknown) => refuse('the server does not tell of it', { cause }))
    if (fresh.metadata.uid !== uid) refuse(`its uid was ${uid} and is ${fresh.metadata.uid}`)
    if (fresh.metadata.deletionTimestamp !== undefined) refuse(`it has just been deleted at ${fresh.metadata.deletionTimestamp}`)
  }

  return () => (answer ??= ask())
}
