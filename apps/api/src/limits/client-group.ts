/** What a client counts for in limits. */
export interface ClientGroup {
  readonly key: string
  /** For messages: `user "ann"`. */
  readonly text: string
}

/**
 * Groups clients for limits. A user who may create service accounts in a namespace has any number of names, and each name any number of
 * tokens. So the service accounts of a namespace count together, and every other client by its user name.
 */
export function clientGroupOf(username: string): ClientGroup {
  const namespace = accountNamespaceOf(username)
  if (namespace === null) return { key: `user ${username}`, text: `user ${JSON.stringify(username)}` }
  return { key: `accounts of ${namespace}`, text: `the service accounts of namespace ${JSON.stringify(namespace)} together` }
}

/** @returns the namespace of a service account; null for any other user */
export function accountNamespaceOf(username: string): string | null {
  return /^system:serviceaccount:([^:]+):/.exec(username)?.[1] ?? null
}
