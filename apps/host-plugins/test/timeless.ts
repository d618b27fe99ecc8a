/** @returns a report as JSON without its moments: time passes between two reads */
export function timeless(report: unknown): unknown {
  const dropMoments = (name: string, value: unknown): unknown => (name === 'since' || name === 'until' ? undefined : value)
  return JSON.parse(JSON.stringify(report, dropMoments))
}
