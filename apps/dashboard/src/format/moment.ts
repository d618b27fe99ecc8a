const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

/** @returns date, time and zone of a moment in the zone of the browser; the text itself if it is no moment */
export function momentText(at: string): string {
  const ms = Date.parse(at)
  return Number.isNaN(ms) ? at : date.format(ms)
}

/** @returns the time of day of a moment in the zone of the browser */
export function clockText(at: string): string {
  const ms = Date.parse(at)
  return Number.isNaN(ms) ? at : clock.format(ms)
}

/** @returns the name of the browser's zone with its present offset: `Europe/Berlin (GMT+2)` */
export function zoneText(nowMs: number): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' }).formatToParts(nowMs)
  const offset = parts.find(({ type }) => type === 'timeZoneName')?.value
  return offset === undefined || offset === timeZone ? timeZone : `${timeZone} (${offset})`
}
