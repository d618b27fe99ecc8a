import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AppError } from '@tranche/errors'
import type { Caller } from '../auth/caller.ts'
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

/** Sessions of browsers: each is a sealed cookie, and nothing is kept by us. */
export interface Sessions {
  /** @returns the value of `Set-Cookie`; throws LOGIN_FAILED where a browser would not take it */
  begin(caller: Caller): Promise<string>
  /** @returns the session of a request; null where there is none, or one that is over or forged */
  of(headers: IncomingHttpHeaders): Promise<Session | null>
  /** @returns the value of `Set-Cookie` that ends the session */
  end(): string
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

/** @param externalUrl the origin under which browsers reach us */
export function createSessions(seal: Seal, externalUrl: string): Sessions {
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
      return {
        id: `session ${jti}`,
        caller: { username: sub, groups: groups as readonly string[] },
        csrfToken: String(csrf),
        expiresMs: exp * 1000,
      }
    },
    end: () => cookie(PURPOSE, '', 0),
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
