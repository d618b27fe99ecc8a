/** @returns a duration with at most two units: `0s`, `59s`, `4m05s`, `2h10m`, `3d4h`; never negative */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${pad(seconds % 60)}s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h${pad(Math.floor((seconds % 3600) / 60))}m`
  return `${Math.floor(seconds / 86_400)}d${Math.floor((seconds % 86_400) / 3600)}h`
}

function pad(part: number): string {
  return String(part).padStart(2, '0')
}
