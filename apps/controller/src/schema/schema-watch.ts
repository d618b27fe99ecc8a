import type { Clock, Timer } from '@tranche/clock'
import { readSchemaGap } from '@tranche/cluster'
import { isForbidden, type KubeClient, type Reflector } from '@tranche/kube-client'
import type { Logger } from '@tranche/telemetry'

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
  return new ServedSchemaWatch(parts)
}

class ServedSchemaWatch implements SchemaWatch {
  readonly #parts: SchemaWatchParts
  /** The gap, as last read. */
  #known: string | undefined
  /** Number of connection changes when `#known` was read; null: not read yet. */
  #readUnder: number | null = null
  /** The check in progress. */
  #looking: Promise<void> | null = null
  /** Number of lists when the objects were last known to be complete. */
  #wholeAt = 0
  #isRefreshing = false
  #timer: Timer | null = null
  #ending: AbortSignal | null = null

  constructor(parts: SchemaWatchParts) {
    this.#parts = parts
  }

  gap(): string | undefined {
    return this.#known
  }

  start(signal: AbortSignal): Promise<void> {
    this.#ending = signal
    signal.addEventListener('abort', () => this.#timer?.cancel(), { once: true })
    return this.#lookOrRetry()
  }

  async settles(): Promise<boolean> {
    if (this.#ending === null || this.#isRefreshing) return false
    if (!this.#isSettled()) await this.#look(this.#ending)
    return this.#isSettled()
  }

  suspect(): void {
    this.#lookIn(0)
  }

  #isSettled(): boolean {
    return this.#readUnder === this.#connectionChanges()
  }

  #connectionChanges(): number {
    return this.#parts.watches.reduce((sum, watch) => sum + watch.connectionChanges, 0)
  }

  #listsDone(): number {
    return this.#parts.watches.reduce((sum, watch) => sum + watch.listsDone, 0)
  }

  async #lookOrRetry(): Promise<void> {
    const signal = this.#ending
    if (signal === null || signal.aborted) return
    try {
      await this.#look(signal)
    } catch (error) {
      if (signal.aborted) return
      this.#parts.log.warn({ err: error }, 'could not read CustomResourceDefinitions')
      this.#lookIn(RECHECK_MS)
    }
  }

  #look(signal: AbortSignal): Promise<void> {
    this.#looking ??= this.#read(signal).finally(() => (this.#looking = null))
    return this.#looking
  }

  #lookIn(ms: number): void {
    if (this.#timer !== null || this.#ending === null || this.#ending.aborted) return
    this.#timer = this.#parts.clock.setTimer(ms, () => {
      this.#timer = null
      void this.#lookOrRetry()
    })
  }

  async #read(signal: AbortSignal): Promise<void> {
    const under = this.#connectionChanges()
    const gap = await readGap(this.#parts, signal)
    const mayBeCut = this.#known !== undefined || this.#listsDone() !== this.#wholeAt
    if (gap === undefined && mayBeCut && !(await this.#isStillKept(signal))) return this.#lookIn(RECHECK_MS)
    this.#readUnder = under
    if (gap !== undefined) this.#lookIn(RECHECK_MS)
    if (gap !== this.#known) this.#change(gap)
  }

  /** Lists the objects again, then reads the CRDs once more. @returns whether they are still complete */
  async #isStillKept(signal: AbortSignal): Promise<boolean> {
    this.#isRefreshing = true
    try {
      await Promise.all(this.#parts.watches.map((watch) => watch.refresh(signal)))
    } finally {
      this.#isRefreshing = false
    }
    const lists = this.#listsDone()
    const isKept = (await readGap(this.#parts, signal)) === undefined
    if (isKept) this.#wholeAt = lists
    return isKept
  }

  #change(gap: string | undefined): void {
    const { log, onChange } = this.#parts
    this.#known = gap
    if (gap === undefined) log.info({}, 'CustomResourceDefinitions are complete')
    else log.warn({ why: gap }, 'stopped starting releases: CustomResourceDefinitions lack fields')
    onChange()
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
