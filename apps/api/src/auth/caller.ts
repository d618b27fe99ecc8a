/** Identity of the client, from the API server's TokenReview. @see authentication/v1 UserInfo */
export interface Caller {
  readonly username: string
  readonly uid?: string | undefined
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** @returns a key that is unique per identity */
export function callerKey({ username, uid, groups, extra }: Caller): string {
  const sorted = Object.entries(extra ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([username, uid ?? '', [...groups].sort(), sorted])
}
