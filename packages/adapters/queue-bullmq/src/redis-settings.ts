/** Where Redis is, and what it takes to be let in. Holds passwords: log {@link addressText} instead. */
export interface RedisSettings {
  readonly address: RedisAddress
  /** Number of the database (≥ 0). */
  readonly database: number
  /** User of an ACL; undefined is Redis' own `default`. */
  readonly username: string | undefined
  /** May be another each time it is read: every new connection reads it, so that it can be rotated. */
  readonly password: string | undefined
  /** For the sentinels themselves, which have passwords of their own. */
  readonly sentinelPassword: string | undefined
  readonly tls: RedisTls | null
}

/** One server, or sentinels that know which server is the master now. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly host: string; readonly port: number }
  | { readonly kind: 'sentinels'; readonly sentinels: readonly RedisHost[]; readonly master: string }

/** A host name or address, and its port. */
export interface RedisHost {
  readonly host: string
  readonly port: number
}

/** How a TLS connection is judged. */
export interface RedisTls {
  /** Certificates to trust instead of the system's, as PEM. */
  readonly ca: string | undefined
}

/** @returns the address for people: without user and passwords */
export function addressText({ address, tls }: RedisSettings): string {
  const scheme = tls === null ? 'redis' : 'rediss'
  if (address.kind === 'server') return `${scheme}://${hostText(address)}`
  return `${scheme}+sentinel://${address.sentinels.map(hostText).join(',')}/${address.master}`
}

function hostText({ host, port }: RedisHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
