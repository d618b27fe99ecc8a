import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../auth/caller.ts'
import { nameOfCluster } from './identity.ts'
import type { Seal } from './sealed.ts'

/** Session of a user who logged in with a browser. */
export interface Session {
  readonly id: string
  readonly caller: Caller
  /** Token that our pages send with each write; pages of other origins cannot read it. */
  readonly csrfToken: string
  /** Epoch milliseconds. */
  readonly expiresMs: number
}

/** Browser sessions. Each is an encrypted cookie; the server keeps only the ids of sessions that were ended early. */
export interface Sessions {
  /** @returns the value of `Set-Cookie`. @throws {AppError} LOGIN_FAILED if it exceeds the cookie size of browsers */
  begin(caller: Caller): Promise<string>
  /** @returns the session of a request; null if there is none, or if it is expired, ended or forged */
  of(headers: IncomingHttpHeaders): Promise<Session | null>
  /**
   * Ends a session, including copies of its cookie, until this process restarts. Other replicas do not know about it.
   *
   * @param session null if the client has none
   * @returns the value of `Set-Cookie` that deletes the cookie
   */
  end(session: Session | null): string
  /** @returns false if the session has expired or ended */
  counts(session: Session): boolean
  /** @throws {AppError} CSRF_REFUSED if the write may come from a page of another origin */
  checkWrite(headers: IncomingHttpHeaders, session: Session): void
  /** @param seconds lifetime of the cookie, in seconds; 0 deletes it. @returns the value of `Set-Cookie` */
  cookie(name: string, value: string, seconds: number): string
  /** @returns the value of one of our cookies; undefined if there is none */
  read(name: string, headers: IncomingHttpHeaders): string | undefined
}

/** Lifetime of a session, in seconds: 8 hours. */
export const SESSION_SECONDS = 8 * 3_600
/** Maximum size of a cookie, in bytes; browsers reject larger ones. */
const LARGEST_COOKIE = 4_000
const PURPOSE = 'session'
/** Maximum number of ended sessions kept in memory, each until its own expiry. */
const MOST_ENDED = 10_000

/** @param origin origin at which browsers reach the API; asked at each use, because a free port is known only later */
export function createSessions(seal: Seal, origin: () => string, clock: Clock): Sessions {
  const ended = new LRUCache<string, true>({ max: MOST_ENDED, ttlResolution: 0, perf: { now: () => clock.monotonicMs() + 1 } })
  const isSecure = (): boolean => origin().startsWith('https:')
  // Values consist of base64url and dots, which need no encoding.
  const cookie = (name: string, value: string, seconds: number): string =>
    `${cookieName(name, origin())}=${value}; Max-Age=${seconds}; Path=/; HttpOnly;${isSecure() ? ' Secure;' : ''} SameSite=Lax`
  const read = (name: string, { cookie: header = '' }: IncomingHttpHeaders): string | undefined => {
    const before = `${cookieName(name, origin())}=`
    const part = header.split(';').find((one) => one.trimStart().startsWith(before))
    return part?.trim().slice(before.length)
  }

  return {
    cookie,
    read,
    async begin({ username, groups }) {
      const csrf = randomBytes(32).toString('base64url')
      const jti = randomBytes(16).toString('base64url')
      const sealed = await seal.close(PURPOSE, { sub: username, groups, csrf, jti }, SESSION_SECONDS)
      const text = cookie(PURPOSE, sealed, SESSION_SECONDS)
      if (text.length > LARGEST_COOKIE) throw new AppError('LOGIN_FAILED', `${groups.length} groups do not fit into a cookie`)
      return text
    },
    async of(headers) {
      const sealed = read(PURPOSE, headers)
      if (sealed === undefined || sealed.length > LARGEST_COOKIE) return null
      const payload = await seal.open(PURPOSE, sealed)
      if (payload === null) return null
      const { sub = '', groups, csrf, jti = '', exp = 0 } = payload
      const id = `session ${jti}`
      const caller = { username: sub, groups: groups as readonly string[] }
      // No login creates such a name: a stolen session key must not give the rights of the cluster itself.
      if (ended.has(id) || nameOfCluster(caller) !== undefined) return null
      return {
        id,
        caller,
        csrfToken: String(csrf),
        expiresMs: exp * 1000,
      }
    },
    end(session) {
      if (session !== null) ended.set(session.id, true, { ttl: Math.max(1, session.expiresMs - clock.nowMs()) })
      return cookie(PURPOSE, '', 0)
    },
    counts: ({ id, expiresMs }) => clock.nowMs() < expiresMs && !ended.has(id),
    checkWrite(headers, { csrfToken }) {
      const site = headers['sec-fetch-site']
      const isSameSite = site === undefined ? headers.origin !== undefined : site === 'same-origin'
      const isOurPage = isSameSite && (headers.origin ?? origin()) === origin()
      if (!isOurPage) throw refused('the write does not come from a page of this origin')
      const sent = headers['x-csrf-token']
      if (typeof sent !== 'string' || !isSame(sent, csrfToken)) throw refused('X-CSRF-Token does not match this session')
    },
  }
}

/**
 * With the prefix `__Host-`, browsers refuse the cookie from other hosts of the domain. Without TLS, the name has the port: browsers send
 * cookies to every port of a host, and several servers may run on one machine.
 */
function cookieName(name: string, origin: string): string {
  if (origin.startsWith('https:')) return `__Host-tranche-${name}`
  const { port } = new URL(origin)
  return `tranche-${name}${port === '' ? '' : `-${port}`}`
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}

function refused(why: string): AppError {
  return new AppError('CSRF_REFUSED', why, { hint: 'Send csrfToken from /api/v1/me as X-CSRF-Token, from a page of this origin.' })
}
