const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs

/** @returns a duration as `kubectl get` shows ages: `45s`, `3m20s`, `5h`, `12d` */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / secondMs)
  const minutes = Math.trunc(ms / minuteMs)
  const hours = Math.trunc(ms / hourMs)
  const days = Math.trunc(hours / 24)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  if (minutes < 10) return join(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  if (hours < 8) return join(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  if (days < 8) return join(days, 'd', hours % 24, 'h')
  if (days < 2 * 365) return `${days}d`
  return days < 8 * 365 ? join(Math.trunc(days / 365), 'y', days % 365, 'd') : `${Math.trunc(days / 365)}y`
}

/** @returns time since an RFC 3339 moment, or `<unknown>` without one */
export function age(timestamp: unknown, nowMs: number): string {
  const atMs = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(atMs) ? '<unknown>' : humanDuration(nowMs - atMs)
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`
}
