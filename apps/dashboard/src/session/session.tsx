import type { ApiClient } from '@tranche/api-client'
import { ApiProblemError } from '@tranche/api-client'
import type { LoginMethod, Me } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { Starting } from '../brand/starting.tsx'
import { connect, type SignInCredentials, signOut } from './connection.ts'
import { createServerTime, type ServerTime } from './server-time.ts'
import { SignIn, type SignedOutWhy } from './sign-in.tsx'

/** A signed-in user. */
export interface UserSession {
  readonly api: ApiClient
  readonly me: Me
  readonly serverClock: ServerTime
  /** Ends the session. */
  signOut(): void
  /** Shows the sign-in again, because the server no longer accepts the credentials. */
  expire(): void
}

type SessionState =
  | { readonly kind: 'checking' }
  | { readonly kind: 'signedOut'; readonly why: SignedOutWhy; readonly error?: unknown }
  | { readonly kind: 'signedIn'; readonly session: UserSession }

const serverClock = createServerTime(() => Date.now())
const fetchHere: typeof fetch = (...request) => fetch(...request)

/** Shows its children to a signed-in user, and the sign-in to everyone else. */
export function SessionGate({ children }: { readonly children: (session: UserSession) => ReactNode }): ReactNode {
  const [state, setState] = useState<SessionState>({ kind: 'checking' })
  const end = useCallback((why: SignedOutWhy) => setState({ kind: 'signedOut', why }), [])
  const begin = useCallback(
    (credentials: SignInCredentials, unless: () => boolean = () => false) => {
      const api = connect({ fetch: fetchHere, clock: systemClock, serverClock, credentials })
      return api.me().then(
        (me) => unless() || setState({ kind: 'signedIn', session: sessionOf(credentials, me, end) }),
        (error: unknown) => unless() || setState(refused(credentials, error)),
      )
    },
    [end],
  )
  useEffect(() => {
    let isGone = false
    void begin({ kind: 'session' }, () => isGone)
    return () => {
      isGone = true
    }
  }, [begin])

  if (state.kind === 'checking') return <Starting />
  if (state.kind === 'signedOut')
    return (
      <SignIn
        why={state.why}
        error={state.error}
        readMethods={readMethods}
        onToken={(token) => begin({ kind: 'token', token })}
        onRetry={() => begin({ kind: 'session' })}
      />
    )
  return children(state.session)
}

function sessionOf(credentials: SignInCredentials, me: Me, end: (why: SignedOutWhy) => void): UserSession {
  const known: SignInCredentials = credentials.kind === 'token' ? credentials : { kind: 'session', csrfToken: me.csrfToken }
  return {
    api: connect({ fetch: fetchHere, clock: systemClock, serverClock, credentials: known }),
    me,
    serverClock,
    signOut: () => void signOut({ fetch: fetchHere, credentials: known }).finally(() => end('signedOut')),
    expire: () => end('expired'),
  }
}

/** Reads the ways to log in that the server has. */
async function readMethods(): Promise<readonly LoginMethod[]> {
  const { loginMethods } = connect({ fetch: fetchHere, clock: systemClock, serverClock, credentials: { kind: 'session' } })
  return (await loginMethods()).methods
}

function refused(credentials: SignInCredentials, error: unknown): SessionState {
  const isUnauthenticated = error instanceof ApiProblemError && error.status === 401
  if (isUnauthenticated) return { kind: 'signedOut', why: credentials.kind === 'token' ? 'refused' : 'none' }
  return { kind: 'signedOut', why: 'unreachable', error }
}
