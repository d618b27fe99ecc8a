import type { Clock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'
import type { Metrics } from './metrics.ts'

/** Dependencies of {@link createMeter}. */
export interface MeterParts {
  /** Undefined: nothing is counted, and exchanges are returned unchanged. */
  readonly metrics: Metrics | undefined
  readonly clock: Clock
  /** Program that sends the requests: `controller` or `executor`; what programs of one process share is the controller's. */
  readonly program: string
}

/** Counts requests and responses, and exports how long each watch has been silent. Requests and responses are unchanged. */
export function createMeter({ metrics, clock, program }: MeterParts): (exchange: Exchange) => Exchange {
  if (metrics === undefined) return (exchange) => exchange
  const heardMs = new Map<string, number>()
  metrics.gauge('tranche_watch_silence_seconds', () =>
    [...heardMs].map(([resource, atMs]) => ({ labels: { program, resource }, value: (clock.monotonicMs() - atMs) / 1000 })),
  )
  return (exchange) => async (request, signal) => {
    const { verb, resource } = whatIsAsked(request)
    const startMs = clock.monotonicMs()
    const answered = (code: string): void => {
      metrics.count('tranche_kube_requests_total', { program, verb, resource, code })
      metrics.observe('tranche_kube_request_seconds', { program, verb }, (clock.monotonicMs() - startMs) / 1000)
    }
    const hear = (): void => void heardMs.set(resource, clock.monotonicMs())
    try {
      const response = await exchange(request, signal)
      answered(String(response.status))
      if (verb !== 'watch' || response.status !== 200) return response
      hear()
      return { ...response, body: heard(response.body, hear) }
    } catch (error) {
      // An abandoned request says nothing about the API server, unless it was too late.
      if (!signal.aborted || isLate(signal.reason)) answered('none')
      throw error
    }
  }
}

function isLate(reason: unknown): boolean {
  return isAppError(reason) && reason.code === 'API_DEADLINE'
}

async function* heard(body: WireResponse['body'], hear: () => void): AsyncIterable<string> {
  for await (const chunk of body) {
    hear()
    yield chunk
  }
}

/** @returns the verb as in RBAC, and the plural of the resource; `other` if the path is not a resource */
export function whatIsAsked({ method, path }: WireRequest): { readonly verb: string; readonly resource: string } {
  const [route = '', query = ''] = path.split('?', 2)
  const found = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/(?=.))?([^/]+)(\/[^/]+)?/.exec(route)
  const [, resource = 'other', name] = found ?? []
  if (method !== 'GET') return { verb: verbs.get(method) ?? 'other', resource }
  if (found === null) return { verb: 'get', resource }
  if (name !== undefined) return { verb: 'get', resource }
  return { verb: /(^|&)watch=true(&|$)/.test(query) ? 'watch' : 'list', resource }
}

const verbs: ReadonlyMap<string, string> = new Map(Object.entries({ POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }))
