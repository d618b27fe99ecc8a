import { readFileSync } from 'node:fs'
import { type CommandIo, invalid, misplaced } from '@tranche/cli'
import type { RedisOptions } from '@tranche/doctor'
import type { RedisAddress, RedisHost, RedisSettings } from '@tranche/queue-bullmq'

const REDIS_PORT = 6379
const SENTINEL_PORT = 26_379
const forms = 'give redis://HOST:6379, rediss://HOST:6379 for TLS, or redis+sentinel://HOST:26379,HOST:26379/NAME; write a user before an @'

/**
 * Combines address and credentials of Redis from the command line, the files that it names, and the environment. The password
 * file is read again for each use of the password.
 *
 * @returns null if no Redis is configured
 * @throws {AppError} OPTION_INVALID; its message never contains a password
 */
export function readRedisSettings(options: RedisOptions, env: CommandIo['env']): RedisSettings | null {
  const fromEnv = line(env['TRANCHE_REDIS_URL'])
  const [source, url] = options.url === undefined ? ['TRANCHE_REDIS_URL', fromEnv] : ['--redis', options.url]
  if (url === undefined || (url === '' && source !== '--redis')) {
    refuseWithoutUrl(options)
    return null
  }
  const { password: inUrl, ...parsed } = parseRedisUrl(source, url)
  if (inUrl !== undefined && source === '--redis')
    throw misplaced(
      '--redis',
      'contains a password, which every user of this machine can read in the process list',
      'remove it from the URL, and pass it with --redis-password-file or TRANCHE_REDIS_PASSWORD; or pass the whole URL in TRANCHE_REDIS_URL',
    )
  if (options.ca !== undefined && parsed.tls === null)
    throw misplaced('--redis-ca', `requires a URL with TLS`, 'write rediss:// instead of redis://, or leave --redis-ca out')
  const fromFile = followPassword(options.passwordFile)
  return {
    ...parsed,
    get password() {
      return fromFile() ?? nonEmpty(line(env['TRANCHE_REDIS_PASSWORD'])) ?? inUrl
    },
    sentinelPassword: nonEmpty(line(env['TRANCHE_REDIS_SENTINEL_PASSWORD'])),
    tls: parsed.tls === null ? null : { ca: options.ca === undefined ? undefined : readFile('--redis-ca', options.ca) },
  }
}

type ParsedUrl = Pick<RedisSettings, 'address' | 'database' | 'username' | 'password' | 'tls'>

/**
 * @param source option or variable of the URL, for the message
 * @throws {AppError} OPTION_INVALID; the message omits the part before an @
 */
function parseRedisUrl(source: string, url: string): ParsedUrl {
  const wrong = (fix: string): Error => invalid(source, withoutSecret(url), fix)
  const [, scheme, sentinel, user = '', hosts = '', path = ''] =
    /^(rediss?)(\+sentinel)?:\/\/(?:(.*)@)?([^@/?#]+)(\/[^?#]*)?$/.exec(url) ?? []
  if (scheme === undefined) throw wrong(forms)
  const [name = '', ...secret] = user.split(':')
  const parts = path.split('/').filter((part) => part !== '')
  const databaseText = (sentinel === undefined ? parts[0] : parts[1]) ?? '0'
  if (!/^\d{1,5}$/.test(databaseText) || parts.length > (sentinel === undefined ? 1 : 2))
    throw wrong(`end the URL with the number of a database, such as ${sentinel === undefined ? '/0' : '/NAME/0'}, or leave it out`)
  return {
    address: toAddress(hosts, sentinel === undefined ? undefined : (parts[0] ?? ''), wrong),
    database: Number(databaseText),
    username: nonEmpty(decode(name, wrong)),
    password: nonEmpty(decode(secret.join(':'), wrong)),
    tls: scheme === 'rediss' ? { ca: undefined } : null,
  }
}

/** Hides the part before an @, and a port that is not a number, which may be a password with its @ missing. */
function withoutSecret(url: string): string {
  return url.replace(/\/\/.*@/, '//***@').replace(/:(?!\/\/)(?!\d*(?=[:/,?#\]]|$))[^/,?#]*/g, ':***')
}

/** @param master undefined for a single server */
function toAddress(hosts: string, master: string | undefined, wrong: (fix: string) => Error): RedisAddress {
  const list = hosts.split(',').map((text) => toHost(text, master === undefined ? REDIS_PORT : SENTINEL_PORT, wrong))
  if (master !== undefined) {
    if (master === '') throw wrong('name the master that the sentinels watch: redis+sentinel://HOST:26379/NAME')
    return { kind: 'sentinels', sentinels: list, master }
  }
  const [server, another] = list
  if (server === undefined || another !== undefined) throw wrong('name one server, or sentinels with redis+sentinel://')
  return { kind: 'server', ...server }
}

function toHost(text: string, defaultPort: number, wrong: (fix: string) => Error): RedisHost {
  const [, v6, name, portText] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s]+))(?::(\d+))?$/.exec(text) ?? []
  const host = v6 ?? name
  if (host === undefined) throw wrong(forms)
  const port = portText === undefined ? defaultPort : Number(portText)
  if (port < 1 || port > 65_535) throw wrong('give a port from 1 to 65535')
  return { host, port }
}

function decode(text: string, wrong: (fix: string) => Error): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw wrong('write a % in user or password as %25')
  }
}

function refuseWithoutUrl({ passwordFile, ca, prefix }: RedisOptions): void {
  const given = [
    ['--redis-password-file', passwordFile],
    ['--redis-ca', ca],
    ['--redis-prefix', prefix],
  ] as const
  for (const [option, value] of given)
    if (value !== undefined) throw misplaced(option, 'requires --redis', 'add --redis URL, or leave it out')
}

/**
 * @returns the current password of the file; the previous one while the file is unreadable or empty
 * @throws {AppError} OPTION_INVALID if the first read fails
 */
function followPassword(file: string | undefined): () => string | undefined {
  let last = readPassword(file)
  return () => {
    try {
      last = readPassword(file)
    } catch {
      // The file is being replaced: keep the previous password.
    }
    return last
  }
}

function readPassword(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const password = line(readFile('--redis-password-file', file))
  if (password === '') throw invalid('--redis-password-file', file, 'write the password into the file, which is empty')
  return password
}

function readFile(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw invalid(option, path, `give a readable file (${error instanceof Error ? error.message : String(error)})`)
  }
}

/** Removes a trailing line end, which files and Secrets often have. */
function line<Text extends string | undefined>(text: Text): Text {
  return text?.replace(/\r?\n$/, '') as Text
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
