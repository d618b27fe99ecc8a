import { systemClock } from '@tranche/clock'
import type { ReleaseScreen } from '../screen/release-screen.ts'
import type { ClusterWatch } from './watch-cluster.ts'

/** Delay before a change is drawn, to batch later ones, in milliseconds. */
const SHOW_AFTER_MS = 80
/** Interval at which ages are redrawn, in milliseconds. */
const SHOW_AGAIN_MS = 1_000
/** Minimum pause after a drawing, as a multiple of its duration: thousands of nodes take long to draw. */
const PAUSE_PER_PICTURE = 20

/** Draws the release after each change and periodically, by the system clock. @returns function that stops it */
export function keepDrawing(watch: ClusterWatch, screen: ReleaseScreen): () => void {
  let changed = false
  let shownAtMs = 0
  let pauseMs = SHOW_AFTER_MS
  const unsubscribe = watch.subscribe(() => {
    changed = true
  })
  const show = (): void => {
    changed = false
    const startMs = systemClock.monotonicMs()
    screen.show(watch.snapshot())
    shownAtMs = systemClock.monotonicMs()
    pauseMs = Math.max(SHOW_AFTER_MS, PAUSE_PER_PICTURE * (shownAtMs - startMs))
  }
  const tick = (): void => {
    if (changed || systemClock.monotonicMs() - shownAtMs >= SHOW_AGAIN_MS) show()
    timer = systemClock.setTimer(pauseMs, tick)
  }
  let timer = systemClock.setTimer(SHOW_AFTER_MS, tick)
  show()
  return () => {
    timer.cancel()
    unsubscribe()
    show()
  }
}
