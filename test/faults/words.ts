/** @returns a length of time in the unit that reads best: `250 ms`, `12 s`, `3 min`, `-5 min` */
export function durationText(ms: number): string {
  if (ms < 0) return `-${durationText(-ms)}`
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${Math.round(ms / 100) / 10} s`
  return `${Math.round(ms / 6_000) / 10} min`
}
