import { type ConfigKind, COPY_LABEL, type ExistingCopy } from '@tranche/config'
import type { KubeClient } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { configPath } from './config-watch.ts'
import { toListedCopy } from './copy-on-wire.ts'

/** Number of objects in one response. */
const CHUNK = 50
/** Maximum number of objects that are looked at: any user who may create a ConfigMap can give it the label of copies. */
const MOST_LISTED = 500

/** Copies of a DaemonSet. */
export interface ListedCopies {
  readonly copies: readonly ExistingCopy[]
  /** Whether there are more objects with the label than were looked at. */
  readonly isCut: boolean
}

/** Lists the metadata of the copies of a DaemonSet, without their content. */
export async function listCopies(
  client: KubeClient,
  kind: ConfigKind,
  { metadata: { namespace = '', uid } }: DaemonSet,
  signal: AbortSignal,
): Promise<ListedCopies> {
  const copies: ExistingCopy[] = []
  const enough = new Error(`${MOST_LISTED} objects were looked at`)
  let seen = 0
  try {
    await client.list(configPath(kind), {
      namespace,
      labelSelector: `${COPY_LABEL}=${uid}`,
      metadataOnly: true,
      chunk: CHUNK,
      transform({ metadata }) {
        if (++seen > MOST_LISTED) throw enough
        const copy = toListedCopy(kind, metadata, uid)
        if (copy !== null) copies.push(copy)
        return null
      },
      signal,
    })
  } catch (error) {
    if (error !== enough) throw error
  }
  return { copies, isCut: seen > MOST_LISTED }
}
