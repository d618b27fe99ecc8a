import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../auth/caller.ts'
import { nameOfCluster } from './identity.ts'
import type { Seal } from './sealed.ts'

/** Somebody who has logged in with a browser. */
export interface Session {
  readonly id: string
  readonly caller: Caller
  /** What a page of ours sends with each write; pages of others cannot read it. */
  readonly csrfToken: string
  /** Epoch milliseconds. */
  readonly expiresMs: number
}

/** Sessions of browsers: each is a sealed cookie. Kept by us is only which were ended before their time. */
export interface Sessions {
  /** @returns the value of `Set-Cookie`; throws LOGIN_FAILED where a browser would not take it */
  begin(caller: Caller): Promise<string>
  /** @returns the session of a request; null where there is none, or one that is over or forged */
  of(headers: IncomingHttpHeaders): Promise<Session | null>
  /**
   * Ends a session, for copies of its cookie too, as long as this process runs: others are told nothing.
   *
   * @param session null where whoever asks has none
   * @returns the value of `Set-Cookie` that takes the cookie away
   */
  end(session: Session | null): string
  /** @returns whether a session that was known still counts */
  counts(session: Session): boolean
  /** @throws {AppError} CSRF_REFUSED where a write may come from a page of others */
  checkWrite(headers: IncomingHttpHeaders, session: Session): void
  /** Puts a value into a cookie of ours; an empty one takes it away. */
  cookie(name: string, value: string, seconds: number): string
  /** @returns what a cookie of ours has; undefined for none */
  read(name: string, headers: IncomingHttpHeaders): string | undefined
}

/** A session ends after so many seconds: 8 hours. */
export const SESSION_SECONDS = 8 * 3_600
/** Browsers take no larger cookie, in bytes. */
const LARGEST_COOKIE = 4_000
const PURPOSE = 'session'
/** Ended sessions that are remembered until they would have ended by themselves. */
const MOST_ENDED = 10_000

/** @param externalUrl the origin under which browsers reach us */
export function createSessions(seal: Seal, externalUrl: string, clock: Clock): Sessions {
  const ended = new LRUCache<string, true>({ max: MOST_ENDED, ttlResolution: 0, perf: { now: () => clock.monotonicMs() + 1 } })
  const secure = externalUrl.startsWith('https:')
  // The prefix has browsers refuse the cookie from any other host of the domain.
  const fullName = (name: string): string => `${secure ? '__Host-' : ''}tranche-${name}`
  const attributes = `Path=/; HttpOnly;${secure ? ' Secure;' : ''} SameSite=Lax`
  // Values are base64url and dots, which need no encoding.
  const cookie = (name: string, value: string, seconds: number): string => `${fullName(name)}=${value}; Max-Age=${seconds}; ${attributes}`
  const read = (name: string, { cookie: header = '' }: IncomingHttpHeaders): string | undefined => {
    const before = `${fullName(name)}=`
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
      if (text.length > LARGEST_COOKIE) throw new AppError('LOGIN_FAILED', `${groups.length} groups are more than a cookie can carry`)
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
      // No login of ours makes one: whoever has stolen a key shall not be the cluster itself.
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
      const { origin } = headers
      const site = headers['sec-fetch-site']
      const isOurPage = (site === undefined ? origin !== undefined : site === 'same-origin') && (origin ?? externalUrl) === externalUrl
      if (!isOurPage) throw refused('the write does not come from a page of ours')
      const sent = headers['x-csrf-token']
      if (typeof sent !== 'string' || !isSame(sent, csrfToken)) throw refused('X-CSRF-Token is not the one of this session')
    },
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}

function refused(why: string): AppError {
  return new AppError('CSRF_REFUSED', why, { hint: 'Send csrfToken of /api/v1/me as X-CSRF-Token, from a page of this origin.' })
}
