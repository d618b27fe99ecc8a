import type { TraceContext } from '@tranche/tracing'
import type { Redis } from 'ioredis'

/**
 * In which traces keys were announced, beside their jobs: BullMQ keeps the data of one of several announcements that collapse, and not of
 * the one that comes last. Nothing depends on them: what Redis refuses is left out.
 */
export interface KeyTraces {
  /** Notes where the next run of `key` comes after. Never rejects. */
  note(key: string, trace: TraceContext): Promise<void>
  /** As `note`, where nothing is noted yet. */
  noteIfNone(key: string, trace: TraceContext): Promise<void>
  /** @returns where the run of `key` that begins now comes after, and forgets it; never rejects */
  take(key: string): Promise<TraceContext | undefined>
}

/** So long a note may wait for its run, in seconds: what nobody takes goes by itself. */
const KEPT_S = 60

/** @param nameOf name in Redis of something of the queue */
export function createKeyTraces(client: Redis, nameOf: (name: string) => string): KeyTraces {
  const name = (key: string): string => nameOf(`trace:/${key}`)
  return {
    async note(key, trace) {
      await client.set(name(key), trace, 'EX', KEPT_S).catch(() => {})
    },
    async noteIfNone(key, trace) {
      await client.set(name(key), trace, 'EX', KEPT_S, 'NX').catch(() => {})
    },
    async take(key) {
      return (await client.getdel(name(key)).catch(() => null)) ?? undefined
    },
  }
}
