import type { Clock, Timer } from '@tranche/clock'

/** Dependencies of {@link createRenewer}. */
export interface RenewerOptions {
  readonly clock: Clock
  /** Shortest time between the starts of two renewals, in milliseconds; also that before the first one. */
  readonly apartMs: number
  /** Reads again. Resolves when everything has arrived, or has failed. */
  readonly renew: () => Promise<unknown>
}

/** Reads data again after they have changed. */
export interface Renewer {
  /** The data have changed. */
  changed(): void
  stop(): void
}

/**
 * Creates a renewer. It starts no renewal while another one is on its way: with an API that needs longer than the time between two changes,
 * nothing would ever arrive.
 */
export function createRenewer({ clock, apartMs, renew }: RenewerOptions): Renewer {
  let lastMs = clock.monotonicMs()
  let timer: Timer | undefined
  let state: 'waiting' | 'reading' | 'outdated' | 'stopped' = 'waiting'

  function plan(): void {
    timer ??= clock.setTimer(Math.max(0, lastMs + apartMs - clock.monotonicMs()), read)
  }

  function read(): void {
    timer = undefined
    lastMs = clock.monotonicMs()
    state = 'reading'
    void renew().then(finish, finish)
  }

  function finish(): void {
    const isOutdated = state === 'outdated'
    if (state === 'stopped') return
    state = 'waiting'
    if (isOutdated) plan()
  }

  return {
    changed() {
      if (state === 'waiting') plan()
      else if (state === 'reading') state = 'outdated'
    },
    stop() {
      state = 'stopped'
      timer?.cancel()
    },
  }
}
