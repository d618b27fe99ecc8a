import type { Clock, Timer } from '@tranche/clock'
import { readSchemaGap } from '@tranche/cluster'
import { isForbidden, type KubeClient, type Reflector } from '@tranche/kube-client'
import type { Logger } from '@tranche/log'

/** Which of our fields the API server drops, as far as it is known. */
export interface SchemaWatch {
  /** What the served definitions lack; undefined where they lack nothing, or it cannot be told. */
  gap(): string | undefined
  /** Looks for the first time. Resolves when it is known, or could not be found out. */
  start(signal: AbortSignal): Promise<void>
  /**
   * Whether {@link gap} was read under the watches that stand now, and the objects under the same definitions; reads it where it was not.
   *
   * @throws {AppError} where the API server does not answer
   */
  settles(): Promise<boolean>
  /** A write was rejected for a field that the API server does not know, or its answer lacked something that was sent: looks again soon. */
  suspect(): void
}

/** What a schema watch is made of. */
export interface SchemaWatchParts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** The watches of our kinds. The API server ends them when a definition changes. */
  readonly watches: readonly Pick<Reflector<unknown>, 'connectionChanges' | 'listsDone' | 'refresh'>[]
  /** Called when the gap opens, closes, or becomes another. */
  readonly onChange: () => void
}

/** How soon it is looked again, while fields are dropped or it could not be found out. Milliseconds. */
const RECHECK_MS = 10_000

/**
 * Watches over the definitions that the API server serves: once at the start, when a watch of our kinds has ended or begun, when a
 * write comes back with less than was sent, and every ten seconds until they are ours. While all is well it asks nothing.
 *
 * What a list has shown by other definitions lacks what is stored, and these may have come and gone before anybody looked: objects that were
 * listed count only once they were listed again between two looks that found ours.
 */
export function createSchemaWatch(parts: SchemaWatchParts): SchemaWatch {
  const { clock, log } = parts
  let known: string | undefined
  /** The connection changes under which `known` was read; null: it was not read yet. */
  let readUnder: number | null = null
  let looking: Promise<void> | null = null
  /** Lists that were taken over when the objects were last known to be whole. */
  let wholeAt = 0
  let isRefreshing = false
  let timer: Timer | null = null
  let ending: AbortSignal | null = null

  const connectionChanges = (): number => parts.watches.reduce((sum, watch) => sum + watch.connectionChanges, 0)
  const listsDone = (): number => parts.watches.reduce((sum, watch) => sum + watch.listsDone, 0)
  const isSettled = (): boolean => readUnder === connectionChanges()

  function look(signal: AbortSignal): Promise<void> {
    looking ??= read(signal).finally(() => (looking = null))
    return looking
  }

  async function read(signal: AbortSignal): Promise<void> {
    const under = connectionChanges()
    const gap = await readGap(parts, signal)
    const mayBeCut = known !== undefined || listsDone() !== wholeAt
    if (gap === undefined && mayBeCut && !(await isStillKept(signal))) return lookIn(RECHECK_MS)
    readUnder = under
    if (gap !== undefined) lookIn(RECHECK_MS)
    if (gap === known) return
    known = gap
    if (gap === undefined) log.info({}, 'the CustomResourceDefinitions keep every field')
    else log.warn({ why: gap }, 'no release starts')
    parts.onChange()
  }

  /** What was read under other definitions is read again, and the definitions once more after it. */
  async function isStillKept(signal: AbortSignal): Promise<boolean> {
    isRefreshing = true
    try {
      await Promise.all(parts.watches.map((watch) => watch.refresh(signal)))
    } finally {
      isRefreshing = false
    }
    const lists = listsDone()
    const isKept = (await readGap(parts, signal)) === undefined
    if (isKept) wholeAt = lists
    return isKept
  }

  async function lookOrRetry(): Promise<void> {
    if (ending === null || ending.aborted) return
    const signal = ending
    try {
      await look(signal)
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
      void lookOrRetry()
    })
  }

  return {
    gap: () => known,
    start(signal) {
      ending = signal
      signal.addEventListener('abort', () => timer?.cancel(), { once: true })
      return lookOrRetry()
    },
    async settles() {
      if (ending === null || isRefreshing) return false
      if (!isSettled()) await look(ending)
      return isSettled()
    },
    suspect: () => lookIn(0),
  }
}

/** @returns undefined also where we may not read them: who cannot be told must not be kept from working */
async function readGap({ client, log }: SchemaWatchParts, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await readSchemaGap(client, signal)) ?? undefined
  } catch (error) {
    if (!isForbidden(error)) throw error
    log.warn({ err: error }, 'may not read which fields the API server keeps')
    return undefined
  }
}
