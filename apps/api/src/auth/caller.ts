/** Who sends a request, as the API server knows them. @see authentication/v1 UserInfo */
export interface Caller {
  readonly username: string
  readonly uid?: string | undefined
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** @returns a text that is the same for the same identity, and for no other */
export function callerKey({ username, uid, groups, extra }: Caller): string {
  const sorted = Object.entries(extra ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([username, uid ?? '', [...groups].sort(), sorted])
}
