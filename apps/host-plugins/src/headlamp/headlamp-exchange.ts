import type { Exchange, WireResponse } from '@tranche/wire'
import { chunksOf, errorResponse, isWatch } from '../reading/host-response.ts'
import type { HeadlampLib } from './headlamp-lib.ts'

/**
 * Exchange that Headlamp carries: with the session of its user to one cluster. Headlamp reports an error as an exception with a status and a
 * message. A watch is refused, so that clients read again instead: Headlamp ends streams after its own deadline. Headlamp sends its own user
 * agent, from which the API server would take the field manager, so a write names it.
 */
export function headlampExchange({ clusterRequest }: HeadlampLib['ApiProxy'], cluster: string): Exchange {
  return async ({ method, path, headers, body }, signal): Promise<WireResponse> => {
    if (isWatch(path)) return errorResponse(403, method, 'this plugin does not watch')
    const { 'user-agent': userAgent = '', ...sent } = headers
    try {
      const answer = await clusterRequest(method === 'GET' ? path : withManager(path, userAgent), {
        method,
        headers: sent,
        ...(body !== undefined && { body }),
        signal,
        cluster,
        isJSON: false,
        autoLogoutOnAuthError: false,
      })
      const response = answer as Response
      return { status: response.status, headers: Object.fromEntries(response.headers), body: chunksOf(response) }
    } catch (error) {
      if (signal.aborted) throw error
      const status = statusOf(error)
      // Headlamp makes these two up when no answer came.
      if (status === null || status === 502 || status === 408) throw error
      return errorResponse(status, method, error instanceof Error ? error.message : String(error))
    }
  }
}

/** @param userAgent such as `tranche-cli/0.1.0` */
function withManager(path: string, userAgent: string): string {
  const [manager = ''] = userAgent.split('/', 1)
  return `${path}${path.includes('?') ? '&' : '?'}fieldManager=${encodeURIComponent(manager)}`
}

function statusOf(error: unknown): number | null {
  const { status } = (typeof error === 'object' && error !== null ? error : {}) as { readonly status?: unknown }
  return typeof status === 'number' ? status : null
}
