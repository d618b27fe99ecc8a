import { readFileSync } from 'node:fs'
import { type ApiClient, createApiClient } from '@tranche/api-client'
import { systemClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { createRestReleaseClient, type ReleaseClient } from '@tranche/release-client'
import type { ServerSource } from '../options/access-options.ts'
import { userAgent } from '../process/version.ts'

/** Release client over the REST API. */
export function openRestReleaseClient(source: ServerSource): ReleaseClient {
  return createRestReleaseClient(openRestClient(source), { clock: systemClock })
}

/** Client of the REST API. The token file is read for every request, since tokens are renewed. */
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
      hint: 'Pass a readable file with your token to --token-file.',
      cause: error,
    })
  }
}
