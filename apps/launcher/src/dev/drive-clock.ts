import { type Clock, VirtualClock } from '@tranche/clock'

/** Event loop turns that other work (file access, key generation) may take without a pending timer. */
const MOST_IDLE_TURNS = 10_000

/**
 * Waits for `work`, and advances a virtual clock meanwhile; does not touch any other clock.
 *
 * @throws {Error} if no timer is left and the work does not end
 */
export async function driveClock<T>(clock: Clock, work: Promise<T>): Promise<T> {
  if (!(clock instanceof VirtualClock)) return work
  let over = false
  const ended = work.finally(() => {
    over = true
  })
  ended.catch(() => {})
  for (let idle = 0; !over; ) {
    if ((await clock.run({ done: () => over })) !== 'idle') continue
    if (++idle > MOST_IDLE_TURNS) throw new Error('virtual time is stuck: no timer is left, and the work has not ended')
  }
  return ended
}
