/** Longest time until changes are shown, in milliseconds; a hidden page gets no frames. */
const SOON_MS = 250

/** Calls back once, in the next frame or soon after. */
export function soon(callback: () => void): void {
  const run = (): void => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    callback()
  }
  const frame = requestAnimationFrame(run)
  const timer = setTimeout(run, SOON_MS)
}
