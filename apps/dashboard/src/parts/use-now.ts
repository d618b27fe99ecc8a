import { useSyncExternalStore } from 'react'
import { usePorts } from '../ports/dashboard-ports.ts'

/** One timer for all parts that show a time. */
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
const TICK_MS = 1_000

function subscribe(onTick: () => void): () => void {
  listeners.add(onTick)
  timer ??= setInterval(() => listeners.forEach((listener) => listener()), TICK_MS)
  return () => {
    listeners.delete(onTick)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** @returns the time of the server in whole seconds, as epoch milliseconds; renews the calling part once a second */
export function useNow(): number {
  const { nowMs } = usePorts()
  return useSyncExternalStore(subscribe, () => Math.floor(nowMs() / TICK_MS) * TICK_MS)
}
