/** @returns the moment as the API writes it: RFC 3339, UTC, the fraction of the second cut off */
export function timestamp(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`
}
