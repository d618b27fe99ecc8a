import type { Clock, Timer } from '@tranche/clock'
import { readSchemaGap } from '@tranche/cluster'
import type { KubeClient } from '@tranche/kube-client'
import type { Logger } from '@tranche/log'

/** Which of our fields the API server drops, as far as it is known. */
export interface SchemaWatch {
  /** What the served definitions lack; undefined where they lack nothing, or it cannot be told. */
  gap(): string | undefined
  /** Looks for the first time. Resolves when it is known, or could not be found out. */
  start(signal: AbortSignal): Promise<void>
  /** The answer to a write lacked something that was sent: looks again soon. */
  suspect(): void
}

/** How soon it is looked again, while fields are dropped or it could not be found out. Milliseconds. */
const RECHECK_MS = 10_000

/**
 * Watches over the definitions that the API server serves: once at the start, when a write comes back with less than was
 * sent, and every ten seconds until they are ours. While all is well it asks nothing.
 *
 * @param onChange called when the gap opens, closes, or becomes another
 */
export function createSchemaWatch(parts: {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  readonly onChange: () => void
}): SchemaWatch {
  const { client, clock, log, onChange } = parts
  let known: string | undefined
  let timer: Timer | null = null
  let ending: AbortSignal | null = null

  async function look(): Promise<void> {
    if (ending === null || ending.aborted) return
    const signal = ending
    try {
      const gap = (await readSchemaGap(client, signal)) ?? undefined
      if (gap !== known) {
        known = gap
        if (gap === undefined) log.info({}, 'the CustomResourceDefinitions keep every field')
        else log.warn({ why: gap }, 'no release starts')
        onChange()
      }
      if (gap !== undefined) lookIn(RECHECK_MS)
    } catch (error) {
      if (signal.aborted) return
      log.warn({ err: error }, 'could not read which fields the API server keeps')
      lookIn(RECHECK_MS)
    }
  }

  function lookIn(ms: number): void {
    if (timer !== null || ending === null || ending.aborted) return
    timer = clock.setTimer(ms, () => {
      timer = null
      void look()
    })
  }

  return {
    gap: () => known,
    start(signal) {
      ending = signal
      signal.addEventListener('abort', () => timer?.cancel(), { once: true })
      return look()
    },
    suspect: () => lookIn(0),
  }
}
