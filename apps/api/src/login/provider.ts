import { AppError } from '@tranche/errors'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretPost,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
  None,
} from 'openid-client'
import type { LoginOptions } from './login-options.ts'

/** Random values of one login. */
export interface LoginAttempt {
  readonly state: string
  readonly nonce: string
  /** PKCE code verifier: binds the code to the browser that requested it. */
  readonly verifier: string
}

/** Client of the OpenID provider. */
export interface Provider {
  /** @throws {AppError} LOGIN_UNAVAILABLE */
  authorizationUrl(attempt: LoginAttempt): Promise<URL>
  /**
   * Exchanges the code for an ID token and verifies it: signature, issuer, audience, time, nonce.
   *
   * @param back callback URL with its query
   * @throws {AppError} LOGIN_FAILED, LOGIN_UNAVAILABLE
   */
  claims(back: URL, attempt: LoginAttempt): Promise<Readonly<Record<string, unknown>>>
}

/** Timeout of a request to the provider, in seconds. */
const TIMEOUT_SECONDS = 5

/** Discovers the provider at the first login and caches the result; retries at the next login after a failure. */
export function createProvider({ issuer, clientId, clientSecret, externalUrl }: LoginOptions): Provider {
  let found: Promise<Configuration> | undefined

  function discovered(): Promise<Configuration> {
    const proof = clientSecret === undefined ? None() : ClientSecretPost(clientSecret)
    // Verifies the signature of the ID token with the provider's keys, even if it came over TLS.
    const execute = [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])]
    found ??= discovery(new URL(issuer), clientId, undefined, proof, { timeout: TIMEOUT_SECONDS, execute }).catch((error: unknown) => {
      found = undefined
      throw unavailable(error)
    })
    return found
  }

  return {
    async authorizationUrl({ state, nonce, verifier }) {
      const configuration = await discovered()
      const { scopes_supported: scopes = [] } = configuration.serverMetadata()
      return buildAuthorizationUrl(configuration, {
        redirect_uri: `${externalUrl}/login/callback`,
        scope: ['openid', 'profile', 'email', ...(scopes.includes('groups') ? ['groups'] : [])].join(' '),
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      })
    },
    async claims(back, { state, nonce, verifier }) {
      const configuration = await discovered()
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      try {
        return { ...(await authorizationCodeGrant(configuration, back, checks)).claims() }
      } catch (error) {
        throw isUnreachable(error) ? unavailable(error) : failed(error)
      }
    },
  }
}

function isUnreachable(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return code === 'OAUTH_TIMEOUT' || (error instanceof TypeError && error.message === 'fetch failed')
}

function unavailable(cause: unknown): AppError {
  return new AppError('LOGIN_UNAVAILABLE', `the OpenID provider did not answer: ${reasonOf(cause)}`, { cause })
}

function failed(cause: unknown): AppError {
  return new AppError('LOGIN_FAILED', reasonOf(cause), { cause })
}

/** Leaves out the request parameters, because they contain the code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { error: said } = error as { readonly error?: unknown }
  return typeof said === 'string' ? `${error.message} (${said})` : error.message
}
