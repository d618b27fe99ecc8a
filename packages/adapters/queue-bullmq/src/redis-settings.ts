/** Address of Redis and credentials. Contains passwords: log {@link addressText} instead. */
export interface RedisSettings {
  readonly address: RedisAddress
  /** Database number (≥ 0). */
  readonly database: number
  /** ACL user; undefined is Redis' own `default`. */
  readonly username: string | undefined
  /** Read again for every new connection, so that it can be rotated. */
  readonly password: string | undefined
  /** Password of the sentinels, which differs from that of the servers. */
  readonly sentinelPassword: string | undefined
  readonly tls: RedisTls | null
}

/** One server, or sentinels that know the current master. */
export type RedisAddress =
  | { readonly kind: 'server'; readonly host: string; readonly port: number }
  | { readonly kind: 'sentinels'; readonly sentinels: readonly RedisHost[]; readonly master: string }

/** Host name or address, and port. */
export interface RedisHost {
  readonly host: string
  readonly port: number
}

/** Trust settings of a TLS connection. */
export interface RedisTls {
  /** Trusted authorities as PEM, instead of the system's. */
  readonly ca: string | undefined
}

/** @returns the address for messages, without user and passwords */
export function addressText({ address, tls }: RedisSettings): string {
  const scheme = tls === null ? 'redis' : 'rediss'
  if (address.kind === 'server') return `${scheme}://${hostText(address)}`
  return `${scheme}+sentinel://${address.sentinels.map(hostText).join(',')}/${address.master}`
}

function hostText({ host, port }: RedisHost): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
