import { type BatchRelease, NOT_DELETED } from '@tranche/api-schema'
import { fieldManagers, type KubeObject, parseTime } from '@tranche/kube-types'

/** Signs of executors in a release in progress. Times are epoch milliseconds by the clock of the API server. */
export interface ReleaseSign {
  readonly namespace: string
  readonly name: string
  /** The flight is open and the batch is `Upgrading`, but there are no permits. */
  readonly isIdle: boolean
  /** Executors leave permits unused, although the budget allows them (`NotDeleted`). */
  readonly isUndeleted: boolean
  /** Time of the last write by any client; 0 if the API server keeps no times. */
  readonly writtenMs: number
  /** Time of the last executor write that is still in the object; null if there is none. */
  readonly executorMs: number | null
}

/** Entry of `metadata.managedFields`. */
interface Managed {
  readonly managedFields?: readonly { readonly manager?: string; readonly time?: string }[]
}

/** @returns the signs of executors in a BatchRelease */
export function toReleaseSign(object: KubeObject): ReleaseSign {
  const { metadata, status } = object as BatchRelease
  const { managedFields: entries = [] } = metadata as Managed
  const times = (own: boolean): readonly number[] =>
    entries.flatMap(({ manager, time }) => (!own || manager === fieldManagers.executor ? (parseTime(time) ?? []) : []))
  const flight = status?.flight
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    isIdle: flight?.state === 'open' && flight.permits.length === 0 && status?.canaryStatus?.batchState === 'Upgrading',
    isUndeleted: status?.waiting?.reason === NOT_DELETED,
    writtenMs: Math.max(0, ...times(false)),
    executorMs: times(true).length === 0 ? null : Math.max(...times(true)),
  }
}
