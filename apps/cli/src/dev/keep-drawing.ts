import { systemClock } from '@tranche/clock'
import type { ReleaseScreen } from '../terminal/release-screen.ts'
import type { ClusterWatch } from './watch-cluster.ts'

/** A change is shown after this long, together with those that follow it. */
const SHOW_AFTER_MS = 80
/** Ages are brought up to date this often. */
const SHOW_AGAIN_MS = 1_000
/** A picture of thousands of nodes takes a while to make: the pause after it is so many times as long. */
const PAUSE_PER_PICTURE = 20

/** Shows the release after each change and now and then, by the clock of the person who looks. @returns ends it */
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
