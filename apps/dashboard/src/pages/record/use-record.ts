import { useQueryClient } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import { textOfKey } from '../../live/release-store.ts'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../ports/renew-when-changed.ts'
import { createHistoryReader, type HistoryReader, type ReaderSnapshot } from './history-reader.ts'
import { entriesOf } from './record-entry.ts'

/** The record as far as it was read, and the reader of the rest. */
export interface RecordState extends ReaderSnapshot {
  readonly reader: HistoryReader
}

/** Reads the histories of these Rollouts, the same list until it changes, while the calling part is on the screen. */
export function useRecord(wanted: readonly ApiKey[]): RecordState {
  const { api, releases } = usePorts()
  const client = useQueryClient()
  const reader = useMemo(
    () =>
      createHistoryReader({
        read: async (key) => {
          const queryFn = async () => api.history(key)
          return entriesOf(key, await client.fetchQuery({ queryKey: [...queryKeyOf(key), 'history'], queryFn, staleTime: 0 }))
        },
        resourceVersionOf: (key) => releases.snapshot().rollouts.get(textOfKey(key))?.resourceVersion,
      }),
    [api, client, releases],
  )
  useEffect(() => reader.want(wanted), [reader, wanted])
  useEffect(() => () => reader.stop(), [reader])
  const snapshot = useSyncExternalStore(reader.subscribe, reader.snapshot)
  return { ...snapshot, reader }
}
