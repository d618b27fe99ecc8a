/** User to act as; each part needs the `impersonate` permission. */
export interface Impersonation {
  /** User name, such as `jane` or `system:serviceaccount:demo:pipeline`. */
  readonly user: string
  readonly groups: readonly string[]
  readonly uid?: string | undefined
  /** Other facts about the user, such as `scopes`, each with its values. */
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** @returns the impersonation headers for an API server; each group, and each value of an extra fact, has its own line */
export function impersonationHeaders({
  user,
  groups,
  uid,
  extra = {},
}: Impersonation): Readonly<Record<string, string | readonly string[]>> {
  const facts = Object.entries(extra).filter(([, values]) => values.length > 0)
  return {
    'impersonate-user': user,
    ...(groups.length > 0 && { 'impersonate-group': groups }),
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...Object.fromEntries(facts.map(([name, values]) => [`impersonate-extra-${inHeaderName(name)}`, values])),
  }
}

/** API servers decode the percent-encoding of what a header name cannot contain. */
function inHeaderName(text: string): string {
  return encodeURIComponent(text).replaceAll('(', '%28').replaceAll(')', '%29')
}
