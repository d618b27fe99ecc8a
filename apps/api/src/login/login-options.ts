/** How people log in with a browser. */
export interface LoginOptions {
  /** Issuer of the OpenID provider: https, or http on loopback. */
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined
  /** Claim that is the user. */
  readonly usernameClaim: string
  /** Stands before each user, as the API server has it. */
  readonly usernamePrefix: string
  /** Claim that is the groups; undefined: nobody has any. */
  readonly groupsClaim: string | undefined
  readonly groupsPrefix: string
  /** Origin under which browsers reach the API: `https://tranche.example.com`. */
  readonly externalUrl: string
  /** At least one, of 32 characters or more each. The first seals; all of them open, so that a key can be changed. */
  readonly sessionKeys: readonly string[]
}
