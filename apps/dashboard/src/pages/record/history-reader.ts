import type { ApiKey } from '@tranche/api-client'
import { textOfKey } from '../../live/release-store.ts'
import { createReadQueue } from './read-queue.ts'
import type { RecordEntry } from './record-entry.ts'

/** History of one Rollout, as it was read. */
export interface ReadHistory {
  readonly key: ApiKey
  /** Empty if it could not be read. */
  readonly entries: readonly RecordEntry[]
  /** Why it could not be read; undefined if it was. */
  readonly error?: unknown
  /** State of the Rollout before the read; undefined if it was not known. */
  readonly resourceVersion: string | undefined
}

/** Histories read up to now. The same object until something changes. */
export interface ReaderSnapshot {
  /** By `namespace/name`. */
  readonly histories: ReadonlyMap<string, ReadHistory>
  /** Rollouts that are being read or wait for it. */
  readonly pending: number
}

/** Reads the histories of many Rollouts, a few at a time. */
export interface HistoryReader {
  readonly subscribe: (onChange: () => void) => () => void
  readonly snapshot: () => ReaderSnapshot
  /** Reads these Rollouts in this order, and no longer those of the call before. Those that were read already are not read again. */
  want(keys: readonly ApiKey[]): void
  /** Reads Rollouts again, before all others. */
  again(keys: readonly ApiKey[]): void
  /** Starts no further request. */
  stop(): void
}

/** Dependencies of {@link createHistoryReader}. */
export interface HistoryReaderOptions {
  readonly read: (key: ApiKey) => Promise<readonly RecordEntry[]>
  /** State of a Rollout now; undefined if it is not known. */
  readonly resourceVersionOf: (key: ApiKey) => string | undefined
}

/** Requests at a time: the record of a large fleet must not crowd out other users of the API. */
export const MOST_READS = 4

/** Creates a reader that has read nothing. */
export function createHistoryReader({ read, resourceVersionOf }: HistoryReaderOptions): HistoryReader {
  const listeners = new Set<() => void>()
  const running = new Set<string>()
  const queue = createReadQueue()
  let current: ReaderSnapshot = { histories: new Map(), pending: 0 }

  function startAndShow(histories: ReaderSnapshot['histories']): void {
    while (running.size < MOST_READS) {
      const key = queue.take()
      if (key === undefined) break
      void readOne(key)
    }
    current = { histories, pending: running.size + queue.length }
    for (const listener of listeners) listener()
  }

  async function readOne(key: ApiKey): Promise<void> {
    const text = textOfKey(key)
    const resourceVersion = resourceVersionOf(key)
    running.add(text)
    const history = await read(key).then(
      (entries): ReadHistory => ({ key, entries, resourceVersion }),
      (error: unknown): ReadHistory => ({ key, entries: [], error, resourceVersion }),
    )
    running.delete(text)
    startAndShow(new Map(current.histories).set(text, history))
  }

  const isIdle = (key: ApiKey): boolean => !running.has(textOfKey(key))
  const change = (edit: () => void): void => {
    edit()
    startAndShow(current.histories)
  }
  return {
    subscribe(onChange) {
      listeners.add(onChange)
      return () => listeners.delete(onChange)
    },
    snapshot: () => current,
    want: (keys) => change(() => queue.replace(keys.filter((key) => isIdle(key) && !current.histories.has(textOfKey(key))))),
    again: (keys) => change(() => queue.again(keys.filter(isIdle))),
    stop: () => change(() => queue.clear()),
  }
}
