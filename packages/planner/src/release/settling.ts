/** What a message begins with while the final settling time runs. */
export const SETTLING = 'settling:'

/** Whether a message says that the final settling time runs; that it begins or ends is said at once. */
export function isSettling(message: string | null | undefined): boolean {
  return message?.startsWith(SETTLING) ?? false
}
