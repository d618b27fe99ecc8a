/** User to act as; each part needs the `impersonate` permission. */
export interface Impersonation {
  /** User name, such as `jane` or `system:serviceaccount:demo:pipeline`. */
  readonly user: string
  readonly groups: readonly string[]
  readonly uid?: string | undefined
}

/** @returns the impersonation headers for an API server; each group has its own line */
export function impersonationHeaders({ user, groups, uid }: Impersonation): Readonly<Record<string, string | readonly string[]>> {
  return {
    'impersonate-user': user,
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...(uid !== undefined && { 'impersonate-uid': uid }),
  }
}
