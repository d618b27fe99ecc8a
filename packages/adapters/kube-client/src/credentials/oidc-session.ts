import { readFileSync } from 'node:fs'
import type { Clock } from '@tranche/clock'
import { Agent, fetch } from 'undici'
import { invalidKubeConfig, messageOf } from './kube-config-error.ts'
import type { OidcSettings, ReadKubeConfig } from './read-kube-config.ts'

/** Tokens of one user from an OpenID Connect provider, kept fresh with the refresh token. */
export interface OidcSession {
  /**
   * @param read the current kubeconfig; tokens written to it since replace the session's own
   * @param renew requests a new token even if the current one has not expired
   * @returns the ID token
   * @throws {AppError} KUBECONFIG_INVALID
   */
  token(read: ReadKubeConfig, renew: boolean): Promise<string>
}

/** How long before expiry the next token is requested, in seconds. */
const AHEAD_S = 30

/**
 * @returns a session without tokens. Refreshed tokens stay in memory and are never written to the kubeconfig: a provider that issues a new
 *   refresh token each time needs a plugin that stores it
 */
export function createOidcSession(clock: Clock): OidcSession {
  let tokens: Tokens | null = null
  return {
    async token(read, renew) {
      const settings = read.oidc ?? {}
      if (tokens === null || tokens.written !== settings['id-token'])
        tokens = { written: settings['id-token'], idToken: settings['id-token'], refreshToken: settings['refresh-token'] }
      const endsAtS = expiryOf(tokens.idToken)
      if (tokens.idToken !== undefined && !renew && clock.nowMs() / 1000 < endsAtS - AHEAD_S) return tokens.idToken
      tokens = { ...tokens, ...(await refresh(read, settings, tokens)) }
      return tokens.idToken!
    },
  }
}

interface Tokens {
  /** ID token in the kubeconfig when these tokens were taken from it. */
  readonly written: string | undefined
  readonly idToken: string | undefined
  readonly refreshToken: string | undefined
}

type Settings = OidcSettings

async function refresh(read: ReadKubeConfig, settings: Settings, { idToken, refreshToken }: Tokens): Promise<Partial<Tokens>> {
  const issuer = settings['idp-issuer-url']
  const clientId = settings['client-id']
  if (refreshToken === undefined || issuer === undefined || clientId === undefined) {
    const missing = [
      ['refresh-token', refreshToken],
      ['idp-issuer-url', issuer],
      ['client-id', clientId],
    ].flatMap(([name, value]) => (value === undefined ? [name] : []))
    throw failed(
      read,
      `the ID token ${idToken === undefined ? 'is missing' : 'has expired'}, and there is no ${missing.join(', no ')} to refresh it with`,
    )
  }
  try {
    const answer = await requestTokens({ issuer, clientId, refreshToken, settings })
    return { idToken: answer.id_token, refreshToken: answer.refresh_token ?? refreshToken }
  } catch (error) {
    throw failed(read, `${issuer} gave no new ID token: ${messageOf(rootOf(error))}`, error)
  }
}

interface TokenRequest {
  readonly issuer: string
  readonly clientId: string
  readonly refreshToken: string
  readonly settings: Settings
}

async function requestTokens({
  issuer,
  clientId,
  refreshToken,
  settings,
}: TokenRequest): Promise<{ id_token: string; refresh_token?: string | undefined }> {
  const oidc = await import('openid-client')
  const agent = new Agent({ connect: { ...authorityOf(settings) } })
  try {
    const secret = settings['client-secret']
    const configuration = await oidc.discovery(
      new URL(issuer),
      clientId,
      undefined,
      // If a provider lists no methods, it accepts Basic (OpenID Connect Discovery 1.0, section 3).
      secret ? (server, client, body, headers) => authenticate(server)(secret)(server, client, body, headers) : oidc.None(),
      { [oidc.customFetch]: (url, options) => fetch(url, { ...options, dispatcher: agent } as object) as unknown as Promise<Response> },
    )
    const answer = await oidc.refreshTokenGrant(configuration, refreshToken)
    if (answer.id_token === undefined) throw new Error('the response has no id_token')
    return { id_token: answer.id_token, refresh_token: answer.refresh_token }
  } finally {
    await agent.close()
  }

  function authenticate({
    token_endpoint_auth_methods_supported: methods,
  }: import('openid-client').ServerMetadata): typeof oidc.ClientSecretBasic {
    return methods === undefined || methods.includes('client_secret_basic') ? oidc.ClientSecretBasic : oidc.ClientSecretPost
  }
}

function authorityOf(settings: Settings): { readonly ca?: string } {
  const file = settings['idp-certificate-authority']
  const data = settings['idp-certificate-authority-data']
  if (file !== undefined) return { ca: readFileSync(file, 'utf8') }
  return data === undefined ? {} : { ca: Buffer.from(data, 'base64').toString('utf8') }
}

/** @returns the `exp` of a JSON Web Token, in seconds since 1970; 0 if it has none */
function expiryOf(token: string | undefined): number {
  try {
    const payload = JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString('utf8')) as { readonly exp?: unknown }
    return typeof payload.exp === 'number' ? payload.exp : 0
  } catch {
    return 0
  }
}

function rootOf(error: unknown): unknown {
  let root = error
  while (root instanceof Error && root.cause instanceof Error) root = root.cause
  return root
}

function failed(read: ReadKubeConfig, problem: string, cause?: unknown): Error {
  return invalidKubeConfig(read.origin, `kubeconfig ${read.origin}: ${problem}`, {
    hint: 'Log in again with the tool that wrote this user (auth-provider oidc) into the kubeconfig.',
    cause,
  })
}
