import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import type { Caller } from '../auth/caller.ts'
import type { Step } from './login.ts'
import { createSeal } from './sealed.ts'
import { createSessions, type Sessions } from './sessions.ts'

/** User and messages of a login by links. */
export interface LinkLoginOptions {
  /** User of every session. */
  readonly caller: Caller
  /** How a person gets a new link, as a sentence. */
  readonly hint: string
}

/** Login of the one user of an API on loopback, by links with one-time codes. */
export interface LinkLogin {
  readonly sessions: Sessions
  /** How a person gets a new link, as a sentence. */
  readonly hint: string
  /** @returns a link that opens one session, within ten minutes */
  newLink(): string
  /**
   * Exchanges the code of a link for a session. A browser that has a session already needs no valid code.
   *
   * @throws {AppError} LOGIN_FAILED if the code is unknown, used or expired
   */
  follow(code: string | undefined, headers: IncomingHttpHeaders): Promise<Step>
}

/** Random bytes of a code: a link fits into a line of 80 columns. */
const CODE_BYTES = 24
/** Lifetime of a code, in milliseconds. */
const CODE_MS = 600_000
/** Maximum number of unused codes; the oldest expires. */
const MOST_CODES = 16

interface IssuedCode {
  /** SHA-256, so that a memory dump reveals no code. */
  readonly hash: Buffer
  /** Monotonic milliseconds. */
  readonly untilMs: number
}

/**
 * Creates the login. Sessions are sealed with a key of this process, so they end with it.
 *
 * @param ports `origin`: origin at which browsers reach the API, known once it listens
 */
export function createLinkLogin(
  { caller, hint }: LinkLoginOptions,
  { clock, origin }: { readonly clock: Clock; readonly origin: () => string },
): LinkLogin {
  const sealed = createSessions(createSeal([randomBytes(32).toString('base64url')], 'tranche link', clock), origin, clock)
  // The cookie need not carry the user, whose groups may not fit, or belong to the cluster.
  const begin = (): Promise<string> => sealed.begin({ username: 'link', groups: [] })
  const of: Sessions['of'] = async (headers) => {
    const session = await sealed.of(headers)
    return session && { ...session, caller }
  }
  let codes: readonly IssuedCode[] = []

  /** Compares with every code, so that the time reveals nothing. */
  function use(code: string): boolean {
    const hash = hashOf(code)
    const matches = codes.filter((issued) => timingSafeEqual(issued.hash, hash))
    codes = codes.filter((issued) => !matches.includes(issued))
    return matches.some(({ untilMs }) => clock.monotonicMs() < untilMs)
  }

  return {
    sessions: { ...sealed, begin, of },
    hint,
    newLink() {
      const code = randomBytes(CODE_BYTES).toString('base64url')
      codes = [...codes, { hash: hashOf(code), untilMs: clock.monotonicMs() + CODE_MS }].slice(-MOST_CODES)
      return `${origin()}/login/link?code=${code}`
    },
    async follow(code = '', headers) {
      const location = `${origin()}/dashboard/`
      if (use(code)) return { location, cookies: [await begin()] }
      if ((await of(headers)) !== null) return { location, cookies: [] }
      throw new AppError('LOGIN_FAILED', 'the link was used, has expired, or is incomplete: it works once, for ten minutes', { hint })
    },
  }
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
