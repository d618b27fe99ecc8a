import { type ApiClient, createApiClient, type FetchInit, type FetchResponse } from '@tranche/api-client'
import type { Clock } from '@tranche/clock'
import type { ServerTime } from './server-time.ts'

/**
 * How the user is identified: by the session cookie of the API, which scripts cannot read, or by a token that this tab keeps in memory.
 * Neither is ever written to a URL, to the storage of the browser, or to a log.
 */
export type SignInCredentials =
  | { readonly kind: 'session'; readonly csrfToken?: string | undefined }
  | { readonly kind: 'token'; readonly token: string }

/** Dependencies of {@link connect}. */
export interface ConnectOptions {
  readonly fetch: typeof globalThis.fetch
  readonly clock: Clock
  readonly serverClock: ServerTime
  readonly credentials: SignInCredentials
}

/** Creates the client of the REST API at the origin of this page. */
export function connect({ fetch, clock, serverClock, credentials }: ConnectOptions): ApiClient {
  const send = async (url: string, init: FetchInit): Promise<FetchResponse> => {
    const response = await fetch(url, { ...init, headers: withCsrf(init, credentials), credentials: 'same-origin', cache: 'no-store' })
    serverClock.observe(response.headers.get('date'))
    return { status: response.status, headers: response.headers, text: () => response.text(), body: chunksOf(response.body) }
  }
  const token = credentials.kind === 'token' ? () => credentials.token : undefined
  return createApiClient({ fetch: send, baseUrl: '', clock, token })
}

/** Ends the session of a cookie; a token is forgotten by forgetting its connection. */
export async function signOut({ fetch, credentials }: Pick<ConnectOptions, 'fetch' | 'credentials'>): Promise<void> {
  if (credentials.kind === 'token') return
  const headers = credentials.csrfToken === undefined ? {} : { 'x-csrf-token': credentials.csrfToken }
  await fetch('/logout', { method: 'POST', credentials: 'same-origin', headers })
}

function withCsrf({ method, headers }: FetchInit, credentials: SignInCredentials): Record<string, string> {
  if (method === 'GET' || credentials.kind !== 'session' || credentials.csrfToken === undefined) return headers
  return { ...headers, 'x-csrf-token': credentials.csrfToken }
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
