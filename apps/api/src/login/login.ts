import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '@tranche/clock'
import { AppError, isAppError } from '@tranche/errors'
import type { Logger } from '@tranche/telemetry'
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client'
import { identityOf } from './identity.ts'
import type { LoginOptions } from './login-options.ts'
import { createLineLimit } from '../limits/line-limit.ts'
import { createProvider } from './provider.ts'
import { createSeal } from './sealed.ts'
import { createSessions, type Sessions } from './sessions.ts'

/** Redirect of a browser, with cookies. */
export interface Step {
  /** Absolute URL. */
  readonly location: string
  /** Values of `Set-Cookie`. */
  readonly cookies: readonly string[]
}

/** Browser login by OpenID Connect. */
export interface Login {
  readonly sessions: Sessions
  /** @throws {AppError} LOGIN_UNAVAILABLE */
  begin(returnTo: string | undefined): Promise<Step>
  /**
   * @param url path and query of the callback request
   * @throws {AppError} LOGIN_FAILED, without the reason, which is only in the log; LOGIN_UNAVAILABLE
   */
  finish(url: string, headers: IncomingHttpHeaders): Promise<Step>
}

/** Maximum duration of a login, in seconds; after that the user has to start again. */
const ATTEMPT_SECONDS = 600
const PURPOSE = 'login'

/** Creates the login. It is stateless: a login in progress keeps its state in an encrypted cookie. */
export function createLogin(options: LoginOptions, { clock, log }: { readonly clock: Clock; readonly log: Logger }): Login {
  const { externalUrl } = options
  const seal = createSeal(options.sessionKeys, externalUrl, clock)
  const sessions = createSessions(seal, () => externalUrl, clock)
  const provider = createProvider(options)
  const lines = createLineLimit(clock)

  async function withFailureLog<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      if (!isAppError(error)) throw error
      const leftOut = lines.take(`${error.code}: ${error.message}`)
      if (leftOut !== null) log.warn({ code: error.code, why: error.message, leftOut }, 'login failed')
      throw new AppError(error.code, 'the login failed', { hint: 'Start again at /login.' })
    }
  }

  return {
    sessions,
    begin: (returnTo) =>
      withFailureLog(async () => {
        const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() }
        const location = await provider.authorizationUrl(attempt)
        const kept = { ...attempt, returnTo: safeReturn(returnTo, externalUrl) }
        const cookie = sessions.cookie(PURPOSE, await seal.close(PURPOSE, kept, ATTEMPT_SECONDS), ATTEMPT_SECONDS)
        return { location: location.href, cookies: [cookie] }
      }),
    finish: (url, headers) =>
      withFailureLog(async () => {
        const attempt = await seal.open(PURPOSE, sessions.read(PURPOSE, headers) ?? '')
        if (attempt === null) throw new AppError('LOGIN_FAILED', 'the browser has no login in progress, or it has expired')
        const back = new URL('/login/callback', externalUrl)
        back.search = url.includes('?') ? url.slice(url.indexOf('?')) : ''
        const { state = '', nonce = '', verifier = '', returnTo } = attempt as Readonly<Record<string, string | undefined>>
        const claims = await provider.claims(back, { state, nonce, verifier })
        const session = await sessions.begin(identityOf(claims, options))
        return { location: safeReturn(returnTo, externalUrl), cookies: [session, sessions.cookie(PURPOSE, '', 0)] }
      }),
  }
}

/** @returns an absolute URL on our own origin; the dashboard if `wanted` is not one */
export function safeReturn(wanted: string | undefined, externalUrl: string): string {
  const home = `${externalUrl}/dashboard/`
  if (wanted === undefined || wanted.length > 1_024 || !URL.canParse(wanted, externalUrl)) return home
  const url = new URL(wanted, externalUrl)
  // A blob: URL has the origin of the page that created it, so the protocol is compared too.
  const isOurs = url.origin === externalUrl && url.protocol === new URL(externalUrl).protocol
  return isOurs && url.username === '' && url.password === '' ? url.href : home
}
