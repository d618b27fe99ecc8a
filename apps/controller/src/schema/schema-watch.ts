import type { Clock, Timer } from '@tranche/clock'
import { readSchemaGap } from '@tranche/cluster'
import { isForbidden, type KubeClient, type Reflector } from '@tranche/kube-client'
import type { Logger } from '@tranche/log'

/** Detects whether the API server serves CRDs that drop our fields (F11). */
export interface SchemaWatch {
  /** Fields that the served CRDs lack; undefined if they lack none, or if unknown. */
  gap(): string | undefined
  /** Checks for the first time. Resolves also if the check failed. */
  start(signal: AbortSignal): Promise<void>
  /**
   * Whether {@link gap} was read under the current watches, and the objects under the same CRDs. Reads it if necessary.
   *
   * @throws {AppError} if the API server does not answer
   */
  settles(): Promise<boolean>
  /** Checks again soon: a write was rejected for an unknown field, or its answer lacked a field. */
  suspect(): void
}

/** Dependencies of {@link createSchemaWatch}. */
export interface SchemaWatchParts {
  readonly client: KubeClient
  readonly clock: Clock
  readonly log: Logger
  /** Watches of our kinds; the API server ends them when a CRD changes. */
  readonly watches: readonly Pick<Reflector<unknown>, 'connectionChanges' | 'listsDone' | 'refresh'>[]
  /** Called when {@link SchemaWatch.gap} changes. */
  readonly onChange: () => void
}

/** Interval of checks while fields are dropped or the check fails, in milliseconds. */
const RECHECK_MS = 10_000

/**
 * Checks the served CRDs at the start, after a watch of our kinds has ended or begun, and after a write has lost a field. Repeats the
 * check every ten seconds until the CRDs are complete. Otherwise it sends no requests.
 *
 * Objects listed under other CRDs lack stored fields, and such CRDs may come and go between two checks. So listed objects are trusted only
 * after they were listed again between two checks that found complete CRDs.
 */
export function createSchemaWatch(parts: SchemaWatchParts): SchemaWatch {
  const { clock, log } = parts
  let known: string | undefined
  /** Number of connection changes when `known` was read; null: not read yet. */
  let readUnder: number | null = null
  let looking: Promise<void> | null = null
  /** Number of lists when the objects were last known to be complete. */
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
    if (gap === undefined) log.info({}, 'CustomResourceDefinitions are complete')
    else log.warn({ why: gap }, 'stopped starting releases: CustomResourceDefinitions lack fields')
    parts.onChange()
  }

  /** Lists the objects again, then reads the CRDs once more. @returns whether they are still complete */
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
      log.warn({ err: error }, 'could not read CustomResourceDefinitions')
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

/** @returns undefined also without the right to read CRDs: missing rights must not stop releases */
async function readGap({ client, log }: SchemaWatchParts, signal: AbortSignal): Promise<string | undefined> {
  try {
    return (await readSchemaGap(client, signal)) ?? undefined
  } catch (error) {
    if (!isForbidden(error)) throw error
    log.warn({ err: error }, 'no permission to read CustomResourceDefinitions')
    return undefined
  }
}
