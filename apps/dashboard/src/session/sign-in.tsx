import type { LoginMethod } from '@tranche/api-schema'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { ProblemNote } from '../parts/problem-note.tsx'

/** Why the sign-in is shown. */
export type SignedOutWhy = 'none' | 'expired' | 'signedOut' | 'refused' | 'unreachable'

const notes: Readonly<Record<SignedOutWhy, string | null>> = {
  none: null,
  expired: 'Your session has ended. Sign in again; you return to the same page.',
  signedOut: 'You are signed out.',
  refused: 'The cluster does not accept this token. It may have expired, or belong to another cluster.',
  unreachable: null,
}

/** Properties of {@link SignIn}. */
interface SignInProps {
  readonly why: SignedOutWhy
  readonly error?: unknown
  /** Reads the ways to log in that the server has. */
  readonly readMethods: () => Promise<readonly LoginMethod[]>
  readonly onToken: (token: string) => Promise<unknown>
  readonly onRetry: () => Promise<unknown>
}

/** Sign-in by the ways that the server has: a token of the cluster, which stays in the memory of this tab, OpenID Connect, or a link. */
export function SignIn({ why, error, readMethods, onToken, onRetry }: SignInProps): ReactNode {
  const methods = useMethods(readMethods)
  return (
    <main className="sign-in">
      <h1>Tranche</h1>
      {why === 'unreachable' ? <ProblemNote error={error} retry={() => void onRetry()} /> : null}
      {notes[why] === null ? null : <p role="status">{notes[why]}</p>}
      {methods.includes('token') ? <TokenForm onToken={onToken} /> : null}
      {methods.includes('openIdConnect') ? <ProviderLink isOnly={!methods.includes('token')} /> : null}
      {methods.includes('link') ? (
        <p>
          {methods.includes('token') ? 'Or open' : 'Open'} the link that <code>tranche</code> prints in its terminal. It works once; Enter
          prints another.
        </p>
      ) : null}
    </main>
  )
}

/** @returns the ways to log in: none until the server answers, and a token if it does not, because it may when a user submits one */
function useMethods(read: SignInProps['readMethods']): readonly LoginMethod[] {
  const [methods, setMethods] = useState<readonly LoginMethod[]>([])
  useEffect(() => {
    let isGone = false
    void read()
      .catch((): readonly LoginMethod[] => ['token'])
      .then((found) => isGone || setMethods(found))
    return () => {
      isGone = true
    }
  }, [read])
  return methods
}

function TokenForm({ onToken }: Pick<SignInProps, 'onToken'>): ReactNode {
  const [token, setToken] = useState('')
  const [isBusy, setBusy] = useState(false)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setBusy(true)
    void onToken(token.trim()).finally(() => setBusy(false))
  }
  return (
    <form onSubmit={submit}>
      <label htmlFor="token">Token</label>
      <input
        id="token"
        type="password"
        autoComplete="off"
        spellCheck={false}
        required
        aria-describedby="token-help"
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <p id="token-help" className="hint">
        A bearer token of the cluster, for example from <code>kubectl create token NAME</code>. This tab forgets it when you reload or close
        it.
      </p>
      <button type="submit" className="primary" disabled={isBusy}>
        {isBusy ? 'Signing in…' : 'Sign in'}
      </button>
    </form>
  )
}

function ProviderLink({ isOnly }: { readonly isOnly: boolean }): ReactNode {
  const back = `/login?return_to=${encodeURIComponent(window.location.pathname + window.location.search)}`
  return (
    <p>
      {isOnly ? null : 'Or '}
      <a href={back}>{isOnly ? 'Sign' : 'sign'} in with OpenID Connect</a>
    </p>
  )
}
