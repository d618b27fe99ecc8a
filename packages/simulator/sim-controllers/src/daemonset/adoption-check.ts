import type { DaemonSet } from '@tranche/kube-types'
import { resources, type SimClient } from '@tranche/sim-api'

/** Resolves when orphans may be adopted. Reads from the server once, on the first call. @throws {AdoptionRefusedError} when they may not */
export type AdoptionCheck = () => Promise<void>

/** The DaemonSet is gone, is being deleted, or differs from the cached one; `cause` is the server's error. The pass is retried later. */
export class AdoptionRefusedError extends Error {
  override readonly name = 'AdoptionRefusedError'
}

/**
 * The cache may not know yet that the DaemonSet is being deleted, or was recreated under the same name. Its orphans were then released on
 * purpose.
 *
 * @returns a check for one pass
 */
export function createAdoptionCheck(client: SimClient, { metadata }: DaemonSet): AdoptionCheck {
  let answer: Promise<void> | undefined

  async function ask(): Promise<void> {
    const { namespace, name, uid } = metadata
    const refuse = (reason: string, options?: ErrorOptions): never => {
      throw new AdoptionRefusedError(`DaemonSet ${namespace}/${name} cannot adopt orphans: ${reason}`, options)
    }
    const fresh = await client
      .get(resources.daemonSets, name, namespace)
      .catch((cause: unknown) => refuse('the server did not return it', { cause }))
    if (fresh.metadata.uid !== uid) refuse(`its uid was ${uid} and is ${fresh.metadata.uid}`)
    if (fresh.metadata.deletionTimestamp !== undefined) refuse(`it has just been deleted at ${fresh.metadata.deletionTimestamp}`)
  }

  return () => (answer ??= ask())
}
