/** Somebody whom we act for; we need the right to `impersonate` each part of it. */
export interface Impersonation {
  /** `jane`, `system:serviceaccount:demo:pipeline`. */
  readonly user: string
  readonly groups: readonly string[]
  readonly uid?: string | undefined
}

/** @returns the headers that say so to an API server; each group has a line of its own */
export function impersonationHeaders({ user, groups, uid }: Impersonation): Readonly<Record<string, string | readonly string[]>> {
  return {
    'impersonate-user': user,
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...(uid !== undefined && { 'impersonate-uid': uid }),
  }
}
