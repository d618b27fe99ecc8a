import type { BatchRelease } from '@tranche/api-schema'
import { fieldManagers, type KubeObject } from '@tranche/kube-types'

/** What a release that is under way tells of executors. Times are epoch milliseconds by the clock of the API server. */
export interface ReleaseSign {
  readonly namespace: string
  readonly name: string
  /** Deletions are permitted by the record, the batch lacks nodes, and nobody takes one. */
  readonly isIdle: boolean
  /** When anything of it was last written; 0 where the API server keeps no times. */
  readonly writtenMs: number
  /** When an executor wrote what still stands there; null where nothing does. */
  readonly executorMs: number | null
}

/** As an API server keeps it: who wrote what still stands, and when. */
interface Managed {
  readonly managedFields?: readonly { readonly manager?: string; readonly time?: string }[]
}

/** @returns what a BatchRelease tells of executors */
export function toReleaseSign(object: KubeObject): ReleaseSign {
  const { metadata, status } = object as BatchRelease
  const { managedFields: entries = [] } = metadata as Managed
  const times = (own: boolean): readonly number[] =>
    entries.flatMap(({ manager, time }) => (!own || manager === fieldManagers.executor ? Date.parse(time ?? '') || [] : []))
  const flight = status?.flight
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    isIdle: flight?.state === 'open' && flight.permits.length === 0 && status?.canaryStatus?.batchState === 'Upgrading',
    writtenMs: Math.max(0, ...times(false)),
    executorMs: times(true).length === 0 ? null : Math.max(...times(true)),
  }
}
