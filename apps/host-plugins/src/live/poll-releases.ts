import type { Clock, Timer } from '@tranche/clock'
import { textOfKey, type WritableNodeStore, type WritableReleaseStore } from '@tranche/dashboard'
import { isAppError } from '@tranche/errors'
import type { ObjectKey } from '@tranche/kube-types'
import { reportNodes, summarizeRollout } from '@tranche/reports'
import type { RolloutSummary } from '@tranche/api-schema'
import type { Lack } from '../reading/lack.ts'
import type { ReadFleet, ReadRelease } from '../reading/read-release.ts'

/** Dependencies of {@link pollReleases}. */
export interface PollOptions {
  readonly clock: Clock
  readonly releases: WritableReleaseStore
  readonly nodes: WritableNodeStore
  readonly readFleet: (signal: AbortSignal) => Promise<ReadFleet>
  readonly readRelease: (key: ObjectKey) => Promise<ReadRelease>
  /** Text that changes whenever much of a release may have changed; cheap to read. */
  readonly readVersions: (key: ObjectKey, signal: AbortSignal) => Promise<string>
  /** Called with what the last read had to leave out. */
  readonly onLacks: (lacks: readonly Lack[]) => void
  /** Called with the error of a failed read; null after one that succeeded. */
  readonly onError: (error: unknown) => void
  /** False while the tab is in the background: nothing is read then. */
  readonly isVisible: () => boolean
}

/** Keeps the stores of a host current. */
export interface ReleasePoll {
  /** Starts it. @returns function that ends it */
  open(): () => void
  /** Chooses the Rollout that is read with its nodes; null: the whole fleet without nodes. */
  show(key: ObjectKey | null): void
  /** Reads at once, as after an action. */
  now(): void
}

/** Shortest time between two looks, in milliseconds. */
export const LOOK_MS = 2_000
/** Longest time between two reads of an unchanged release: the time alone changes reports, too. */
export const WHOLE_MS = 15_000
/** Times of the last read that the next one waits: a large cluster is read less often. */
const REST_FACTOR = 4

/**
 * Polls: six watches per Rollout would take every connection that a browser opens to a host. One release is read in full only when its
 * versions have changed.
 */
export function pollReleases(options: PollOptions): ReleasePoll {
  return new Poller(options)
}

class Poller implements ReleasePoll {
  readonly #options: PollOptions
  /** Summaries that the store has, as JSON: subscribers renew what they show of a Rollout for every message. */
  readonly #known = new Map<string, string>()
  #shown: ObjectKey | null = null
  #ending: AbortController | null = null
  #timer: Timer | undefined
  /** Last read of the shown Rollout in full. */
  #last: { readonly versions: string; readonly atMs: number } | null = null
  #goodMs: number

  constructor(options: PollOptions) {
    this.#options = options
    this.#goodMs = options.clock.nowMs()
  }

  readonly open = (): (() => void) => {
    this.#begin()
    return () => this.#stop()
  }

  readonly show = (key: ObjectKey | null): void => {
    if ((key && textOfKey(key)) === (this.#shown && textOfKey(this.#shown))) return
    this.#shown = key
    this.#options.nodes.show(key)
    this.now()
  }

  readonly now = (): void => {
    this.#last = null
    if (this.#ending === null) return
    this.#stop()
    this.#begin()
  }

  #begin(): void {
    this.#ending = new AbortController()
    void this.#look(this.#ending.signal)
  }

  #stop(): void {
    this.#ending?.abort()
    this.#ending = null
    this.#timer?.cancel()
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { clock, isVisible } = this.#options
    const startMs = clock.monotonicMs()
    if (isVisible()) await this.#read(signal)
    if (signal.aborted) return
    const tookMs = clock.monotonicMs() - startMs
    this.#timer = clock.setTimer(Math.max(LOOK_MS, REST_FACTOR * tookMs), () => void this.#look(signal))
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { clock, releases, onError } = this.#options
    try {
      await (this.#shown === null ? this.#readFleet(signal) : this.#readShown(this.#shown, signal))
      if (signal.aborted) return
      this.#goodMs = clock.nowMs()
      onError(null)
      releases.setLive({ kind: 'live' })
    } catch (error) {
      if (signal.aborted) return
      onError(error)
      releases.setLive({ kind: 'reconnecting', staleSinceMs: this.#goodMs, why: error instanceof Error ? error.message : String(error) })
    }
  }

  async #readFleet(signal: AbortSignal): Promise<void> {
    const { facts, lacks } = await this.#options.readFleet(signal)
    if (signal.aborted) return
    const summaries = facts.map(summarizeRollout)
    const present = new Set(summaries.map(textOfKey))
    for (const text of this.#known.keys()) if (!present.has(text)) this.#forget(text)
    for (const summary of summaries) this.#apply(summary)
    this.#options.onLacks(lacks)
    this.#options.releases.complete()
  }

  async #readShown(key: ObjectKey, signal: AbortSignal): Promise<void> {
    const { clock, nodes, releases, onLacks, readRelease, readVersions } = this.#options
    try {
      const versions = await readVersions(key, signal)
      const isSame = this.#last?.versions === versions && clock.monotonicMs() - this.#last.atMs < WHOLE_MS
      if (isSame || signal.aborted) return
      const { facts, lacks, hasNodes } = await readRelease(key)
      if (signal.aborted) return
      this.#last = { versions, atMs: clock.monotonicMs() }
      this.#apply(summarizeRollout(facts))
      nodes.apply({ type: 'nodes', ...key, reset: true, nodes: hasNodes ? [...reportNodes(facts)] : [], gone: [] })
      onLacks(lacks)
    } catch (error) {
      if (signal.aborted || !isAppError(error) || error.code !== 'ROLLOUT_NOT_FOUND') throw error
      this.#forget(textOfKey(key))
    }
    releases.complete()
  }

  #apply(summary: RolloutSummary): void {
    const json = JSON.stringify(summary)
    if (this.#known.get(textOfKey(summary)) === json) return
    this.#known.set(textOfKey(summary), json)
    this.#options.releases.apply({ type: 'rollout', rollout: summary })
  }

  #forget(text: string): void {
    const [namespace = '', name = ''] = text.split('/')
    this.#known.delete(text)
    this.#options.releases.apply({ type: 'gone', namespace, name })
  }
}
