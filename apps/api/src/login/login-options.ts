/** Options of browser login by OpenID Connect. */
export interface LoginOptions {
  /** Issuer of the OpenID provider: https, or http on loopback. */
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined
  /** Claim with the user name. */
  readonly usernameClaim: string
  /** Prefix of user names, as in the options of the API server. */
  readonly usernamePrefix: string
  /** Claim with the groups; undefined: no groups. */
  readonly groupsClaim: string | undefined
  readonly groupsPrefix: string
  /** Origin at which browsers reach the API: `https://tranche.example.com`. */
  readonly externalUrl: string
  /** At least one, each of 32 characters or more. The first one encrypts, all decrypt, so that keys can be rotated. */
  readonly sessionKeys: readonly string[]
}
