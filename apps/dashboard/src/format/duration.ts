/** @returns a duration with at most two units: `0s`, `59s`, `4m 05s`, `2h 10m`, `3d 4h`; never negative; `–` for NaN */
export function timeSpanText(ms: number): string {
  if (Number.isNaN(ms)) return '–'
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${pad(seconds % 60)}s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ${pad(Math.floor((seconds % 3600) / 60))}m`
  return `${Math.floor(seconds / 86_400)}d ${Math.floor((seconds % 86_400) / 3600)}h`
}

/** @returns `1 node`, `2 nodes`; for words whose plural ends in s */
export function countText(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

function pad(part: number): string {
  return String(part).padStart(2, '0')
}
