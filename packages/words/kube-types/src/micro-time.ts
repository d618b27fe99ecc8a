/** Formats a MicroTime, which the API server accepts only with exactly six digits of the second. @see meta/v1 MicroTime */
export function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z')
}
