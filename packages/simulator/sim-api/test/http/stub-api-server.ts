import { FakeClock } from '@tranche/clock'
import {
  type ApiObject,
  type ApiRequest,
  createHttpFront,
  type FrontApiServer,
  type HttpFront,
  inProcessExchange,
  type ResourceDefinition,
  type WatchRequest,
  type WatchSink,
} from '@tranche/sim-api'
import { bodyText, type WireRequest } from '@tranche/wire'

/** An API server that answers every request with the same objects and keeps what it was asked. */
export interface Stub {
  readonly requests: ApiRequest[]
  readonly watches: { readonly request: WatchRequest; readonly sink: WatchSink; stopped: boolean }[]
  readonly front: HttpFront
  /** Sends one request with a valid token; the body is parsed when it is JSON. */
  send(method: string, path: string, extra?: Partial<WireRequest>): Promise<Answer>
}

/** An answer whose body has been read. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: unknown
}

/** Every user with a token may do everything. */
const openAccess: FrontApiServer['access'] = {
  authorize: (actor) => ({ allowed: actor.name !== 'system:anonymous', reason: '' }),
  rulesFor: () => ({ rules: [], errors: [] }),
  rulesOfRole: () => [],
  readObject: () => undefined,
  tokens: { issue: () => '', read: () => undefined },
}

export const NOW_MS = Date.parse('2026-01-01T12:00:00Z')

export function createStub(objects: readonly ApiObject[] = [], definitions: readonly ResourceDefinition[] = []): Stub {
  const requests: ApiRequest[] = []
  const watches: Stub['watches'] = []
  const all = [...builtinDefinitions, ...definitions]
  const apiServer: FrontApiServer = {
    readDocument: async (_actor, act) => act(),
    access: openAccess,
    definitions: () => all,
    findDefinition: ({ group, resource }) => all.find((entry) => entry.group === group && entry.plural === resource),
    handle(request) {
      requests.push(request)
      if (request.verb !== 'list') return Promise.resolve({ kind: 'object', code: 200, object: objects[0] ?? pod('a'), warnings: [] })
      const list = { apiVersion: 'v1', kind: 'PodList', metadata: { resourceVersion: '9' }, items: objects }
      return Promise.resolve({ kind: 'list', code: 200, list, warnings: [] })
    },
    watch(request, sink) {
      const watch = { request, sink, stopped: false }
      watches.push(watch)
      return Promise.resolve({ stop: () => void (watch.stopped = true) })
    },
  }
  const front = createHttpFront(apiServer, { tokens: { secret: { name: 'admin' } }, clock: new FakeClock(NOW_MS) })
  const exchange = inProcessExchange(front, 'secret')
  return {
    requests,
    watches,
    front,
    async send(method, path, extra) {
      const { status, headers, ...answer } = await exchange({ method, path, headers: {}, ...extra }, new AbortController().signal)
      const text = await bodyText({ status, headers, ...answer })
      return { status, headers, text, json: headers['content-type'] === 'application/json' ? JSON.parse(text) : undefined }
    },
  }
}

/** A running pod, created a minute before now; `fields` replace top-level fields. */
export function pod(name: string, fields: Partial<ApiObject> = {}): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '5', creationTimestamp: '2026-01-01T11:59:00Z' },
    spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'app:1' }] },
    status: { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [{ ready: true, restartCount: 0, state: { running: {} } }] },
    ...fields,
  }
}

/** A definition with the fields that the HTTP layer reads. */
export function definition(
  group: string,
  kind: string,
  plural: string,
  extra: Partial<Omit<ResourceDefinition, 'strategy'>> = {},
): ResourceDefinition {
  const mergeKeys = extra.customResourceDefinition === undefined ? () => 'atomic' as const : null
  return {
    group,
    version: 'v1',
    versions: ['v1'],
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    subresources: [],
    strategy: { mergeKeys } as unknown as ResourceDefinition['strategy'],
    ...extra,
  }
}

const builtinDefinitions = [
  definition('', 'Namespace', 'namespaces', { namespaced: false, shortNames: ['ns'], subresources: ['status'] }),
  definition('', 'Node', 'nodes', { namespaced: false, subresources: ['status'] }),
  definition('', 'Pod', 'pods', { shortNames: ['po'], categories: ['all'], subresources: ['status', 'binding', 'eviction'] }),
  definition('', 'Event', 'events'),
  definition('apps', 'DaemonSet', 'daemonsets', { shortNames: ['ds'], subresources: ['status'] }),
  definition('apps', 'ControllerRevision', 'controllerrevisions'),
]

/** @returns every chunk of a body, once it has ended */
export async function chunksOf(body: AsyncIterable<string>): Promise<readonly string[]> {
  const chunks: string[] = []
  for await (const chunk of body) chunks.push(chunk)
  return chunks
}
