import { AppError } from '@tranche/errors'
import { addressText, type RedisSettings } from './redis-settings.ts'

/**
 * Explains an error of Redis or of the connection to it. The message never contains a password, whatever the error carried.
 *
 * @returns REDIS_UNREACHABLE for what may pass by itself; REDIS_REFUSED, REDIS_TLS or REDIS_UNSUITABLE for what a person must fix
 */
export function explainRedisError(error: unknown, settings: RedisSettings): AppError {
  const text = errorText(error)
  const { code, says, hint } = cases.find(({ pattern }) => pattern.test(text)) ?? unreachable
  return new AppError(code, `Redis ${addressText(settings)} ${says(withoutSecrets(text, settings))}`, {
    details: { redis: addressText(settings) },
    hint,
  })
}

interface Case {
  readonly pattern: RegExp
  readonly code: 'REDIS_UNREACHABLE' | 'REDIS_REFUSED' | 'REDIS_TLS' | 'REDIS_UNSUITABLE'
  readonly says: (text: string) => string
  readonly hint: string
}

const passwordHint = 'Set it with --redis-password-file or the variable TRANCHE_REDIS_PASSWORD.'

const unreachable: Case = {
  pattern: /^/,
  code: 'REDIS_UNREACHABLE',
  says: (text) => `does not answer: ${text}`,
  hint: 'Check that it runs, and that --redis names its address. If it speaks TLS, the URL begins with rediss://.',
}

/** The first match wins. */
const cases: readonly Case[] = [
  { pattern: /NOAUTH/, code: 'REDIS_REFUSED', says: () => 'requires a password and none was given', hint: passwordHint },
  {
    pattern: /WRONGPASS|invalid password|invalid username-password/i,
    code: 'REDIS_REFUSED',
    says: () => 'does not accept the user or the password',
    hint: `Compare them with the users of Redis (ACL LIST). ${passwordHint}`,
  },
  {
    pattern: /NOPERM/,
    code: 'REDIS_REFUSED',
    says: (text) => `denies this user a permission: ${text}`,
    hint: 'Grant what docs/operations/redis.md lists: the keys below the prefix, and the commands of the queue.',
  },
  {
    pattern: /READONLY/,
    code: 'REDIS_UNSUITABLE',
    says: () => 'is a replica, which accepts no writes',
    hint: 'Name the master in --redis, or the sentinels that know it: redis+sentinel://HOST:26379/NAME.',
  },
  {
    pattern: /unknown command .?HELLO/i,
    code: 'REDIS_UNSUITABLE',
    says: () => 'is too old',
    hint: 'Use Redis 6.2 or newer.',
  },
  {
    pattern: /\bOOM\b|MISCONF/,
    code: 'REDIS_UNSUITABLE',
    says: (text) => `rejects writes: ${text}`,
    hint: 'Give it more memory, or fix the error that it reports.',
  },
  {
    pattern: /Unknown RESP type|Protocol error/,
    code: 'REDIS_UNSUITABLE',
    says: () => 'answers, but is not Redis',
    hint: 'Check host and port of --redis; a port that speaks TLS needs rediss://.',
  },
  {
    pattern: /self.signed|unable to (verify|get local issuer)|UNABLE_TO|CERT_|certificate/i,
    code: 'REDIS_TLS',
    says: (text) => `presents a certificate that is not trusted: ${text}`,
    hint: 'Set --redis-ca to the certificate of its authority, and use the host name of the certificate in --redis.',
  },
]

function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const nested = error instanceof AggregateError ? error.errors.map(errorText).join('; ') : ''
  const last = 'lastNodeError' in error ? errorText(error.lastNodeError) : ''
  const code = 'code' in error && typeof error.code === 'string' && !error.message.includes(error.code) ? `${error.code} ` : ''
  return [`${code}${error.message}`, nested, last].filter((text) => text !== '').join('; ')
}

function withoutSecrets(text: string, { password, sentinelPassword }: RedisSettings): string {
  return [password, sentinelPassword].reduce<string>(
    (clean, secret) => (secret === undefined || secret === '' ? clean : clean.replaceAll(secret, '***')),
    text,
  )
}
