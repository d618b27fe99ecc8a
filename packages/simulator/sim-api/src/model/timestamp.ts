/** @returns time in API format: RFC 3339, UTC, cut to whole seconds */
export function timestamp(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`
}
