import type { RolloutSummary, StreamMessage } from '@tranche/api-schema'

/** State of the stream behind a store. Times are epoch milliseconds of the server. */
export type LiveState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** The data are those of `staleSinceMs`. */
  | { readonly kind: 'reconnecting'; readonly staleSinceMs: number; readonly why: string }
  /** The server refused the stream for good, for example because the session ended. */
  | { readonly kind: 'ended'; readonly staleSinceMs: number; readonly why: string }

/** One moment of the fleet. The same object until something changes. */
export interface FleetSnapshot {
  /** By `namespace/name`. */
  readonly rollouts: ReadonlyMap<string, RolloutSummary>
  /** False until the first list is complete: an empty fleet is not an empty answer. */
  readonly isComplete: boolean
  readonly live: LiveState
}

/** The Rollouts that the user may see, kept current by one stream. */
export interface ReleaseStore {
  readonly subscribe: (onChange: () => void) => () => void
  readonly snapshot: () => FleetSnapshot
}

/** Text that identifies a Rollout in a fleet. */
export function textOfKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`
}

/** A store, and the functions that change it. */
export interface WritableReleaseStore extends ReleaseStore {
  apply(message: StreamMessage): void
  /** Everything up to now is one consistent state: shows it. */
  complete(): void
  setLive(live: LiveState): void
}

/**
 * Creates an empty store. Changes of one moment reach subscribers together, so that a burst of messages costs one rendering. After a
 * `reset` the old state stays visible until the new one is complete.
 *
 * @param schedule calls back once after a short while, such as the next frame
 */
export function createReleaseStore(schedule: (callback: () => void) => void): WritableReleaseStore {
  return new BatchingStore(schedule)
}

class BatchingStore implements WritableReleaseStore {
  readonly #schedule: (callback: () => void) => void
  readonly #listeners = new Set<() => void>()
  #current: FleetSnapshot = { rollouts: new Map(), isComplete: false, live: { kind: 'connecting' } }
  /** Not shown yet; null if it equals what is shown. */
  #next: Map<string, RolloutSummary> | null = null
  /** A new state is on its way, and not complete. */
  #isResetting = false
  #isScheduled = false

  constructor(schedule: (callback: () => void) => void) {
    this.#schedule = schedule
  }

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange)
    return () => this.#listeners.delete(onChange)
  }

  readonly snapshot = (): FleetSnapshot => this.#current

  apply(message: StreamMessage): void {
    switch (message.type) {
      case 'reset':
        this.#next = new Map()
        this.#isResetting = true
        return
      case 'rollout':
        this.#draft().set(textOfKey(message.rollout), message.rollout)
        break
      case 'gone':
        this.#draft().delete(textOfKey(message))
        break
      default:
        return
    }
    this.#showLater()
  }

  complete(): void {
    this.#isResetting = false
    if (this.#current.isComplete) this.#showLater()
    else this.#publish({ isComplete: true })
  }

  setLive(live: LiveState): void {
    this.#publish({ live })
  }

  #draft(): Map<string, RolloutSummary> {
    return (this.#next ??= new Map(this.#current.rollouts))
  }

  #showLater(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#schedule(() => {
      this.#isScheduled = false
      if (this.#next !== null) this.#publish({})
    })
  }

  #publish(change: Partial<FleetSnapshot>): void {
    const shown = this.#next === null || this.#isResetting ? {} : { rollouts: this.#next }
    if (!this.#isResetting) this.#next = null
    this.#current = { ...this.#current, ...shown, ...change }
    for (const listener of this.#listeners) listener()
  }
}
