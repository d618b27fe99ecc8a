import type { TraceContext } from '@tranche/telemetry'
import type { Redis } from 'ioredis'

/**
 * Traces in which keys were enqueued, stored beside their jobs: when several enqueues collapse, BullMQ does not keep the data of the last
 * one. Nothing depends on them; failures of Redis are ignored.
 */
export interface KeyTraces {
  /** Records the trace that the next run of `key` follows. Never rejects. */
  note(key: string, trace: TraceContext): Promise<void>
  /** Like `note`, unless a trace is already recorded. */
  noteIfNone(key: string, trace: TraceContext): Promise<void>
  /** @returns the trace that the current run of `key` follows, and forgets it; never rejects */
  take(key: string): Promise<TraceContext | undefined>
}

/** How long a trace waits for its run, in seconds; unused ones expire. */
const KEPT_S = 60

/** @param nameOf returns the Redis name of an item of the queue */
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
