import { systemClock } from '@tranche/clock'
import type { ReleaseScreen } from '../terminal/release-screen.ts'
import type { ClusterWatch } from './watch-cluster.ts'

/** A change is shown after this long, together with those that follow it. */
const SHOW_AFTER_MS = 80
/** Ages are brought up to date this often. */
const SHOW_AGAIN_MS = 1_000

/** Shows the release after each change and now and then, by the clock of the person who looks. @returns ends it */
export function keepDrawing(watch: ClusterWatch, screen: ReleaseScreen): () => void {
  let changed = false
  let sinceShownMs = 0
  const unsubscribe = watch.subscribe(() => {
    changed = true
  })
  const show = (): void => {
    changed = false
    sinceShownMs = 0
    screen.show(watch.snapshot())
  }
  const tick = (): void => {
    sinceShownMs += SHOW_AFTER_MS
    if (changed || sinceShownMs >= SHOW_AGAIN_MS) show()
    timer = systemClock.setTimer(SHOW_AFTER_MS, tick)
  }
  let timer = systemClock.setTimer(SHOW_AFTER_MS, tick)
  show()
  return () => {
    timer.cancel()
    unsubscribe()
    show()
  }
}
