import { readFileSync } from 'node:fs'
import { type ApiClient, createApiClient } from '@tranche/api-client'
import { systemClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { createRestReleaseClient, type ReleaseClient } from '@tranche/release-client'
import type { ServerSource } from '../options/access-options.ts'
import { userAgent } from '../version.ts'

/** A desk over the REST API. */
export function openRestReleaseClient(source: ServerSource): ReleaseClient {
  return createRestReleaseClient(openRestClient(source), { clock: systemClock })
}

/** The REST API as calls; the file of a token is read for every request, since tokens are renewed. */
export function openRestClient({ url, token, tokenFile }: ServerSource): ApiClient {
  return createApiClient({
    fetch,
    baseUrl: url,
    token: () => (tokenFile === undefined ? token : readToken(tokenFile)),
    clock: systemClock,
    userAgent: userAgent('tranche-cli'),
  })
}

function readToken(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new AppError('FILE_UNREADABLE', `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      details: { path },
      hint: 'Name a file with a token of yours behind --token-file.',
      cause: error,
    })
  }
}
