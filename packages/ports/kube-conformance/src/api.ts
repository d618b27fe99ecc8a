import { sleep } from '@tranche/clock'
import { bodyText, type WireResponse } from '@tranche/wire'
import type { Answer, Body } from './body.ts'
import { within } from './deadline.ts'
import type { ClusterHarness } from './harness.ts'
import { openWatch, type Watch } from './watch.ts'

/** Options of one request. */
export interface RequestOptions {
  readonly query?: Query
  /** An object is sent as JSON; text as it is. */
  readonly body?: object | string
  /** Content type of the body. @default `application/json` */
  readonly type?: string
  /** @default `application/json` */
  readonly accept?: string
  /** Impersonates this user. */
  readonly as?: string
  /** Groups of the user that is impersonated. */
  readonly groups?: readonly string[]
}

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** The API of a cluster, answer by answer: nothing is retried, and no status is an error. */
export interface Api {
  get(path: string, options?: RequestOptions): Promise<Answer>
  post(path: string, body: object | string, options?: RequestOptions): Promise<Answer>
  put(path: string, body: object, options?: RequestOptions): Promise<Answer>
  /** @param type of the patch: `json`, `merge`, `strategic` or `apply`, or a media type */
  patch(path: string, type: string, body: unknown, options?: RequestOptions): Promise<Answer>
  delete(path: string, options?: RequestOptions): Promise<Answer>
  /** Posts what must be accepted. @returns the object as stored */
  create(path: string, object: object): Promise<Body>
  /** Opens a watch that must be accepted. It is closed with the test. */
  watch(path: string, query?: Query, options?: Pick<RequestOptions, 'accept'>): Promise<Watch>
  /**
   * Watches one object until `isSo` holds of it, given undefined while it does not exist.
   *
   * @throws {Error} naming `what` when it has not come to that within a minute
   */
  until(collection: string, name: string, what: string, isSo: (object: Body | undefined) => boolean): Promise<Body | undefined>
  /**
   * GETs a path repeatedly until `isSo` holds for the response: for effects that no watch reports.
   *
   * @throws {Error} naming `what` when it has not come to that within a minute
   */
  getUntil(path: string, what: string, isSo: (answer: Answer) => boolean): Promise<Answer>
  /**
   * Asks again and again until `isSo` holds of the answer: what an API server reads from its own caches follows a write some time later.
   *
   * @throws {Error} naming `what` when it has not come to that within a minute
   */
  askUntil(ask: () => Promise<Answer>, what: string, isSo: (answer: Answer) => boolean): Promise<Answer>
}

/** Poll interval for state that no watch reports, in milliseconds. */
const LOOK_AGAIN_MS = 100

const patchTypes: Readonly<Record<string, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

/**
 * Opens the API of a cluster for one test.
 *
 * @param signal ends everything that is under way
 */
export function openApi(cluster: ClusterHarness, signal: AbortSignal): Api {
  const api: Api = {
    get: (path, options) => call('GET', path, options),
    post: (path, body, options) => call('POST', path, { ...options, body }),
    put: (path, body, options) => call('PUT', path, { ...options, body }),
    patch: (path, type, body, options) =>
      call('PATCH', path, { ...options, body: typeof body === 'string' ? body : JSON.stringify(body), type: patchTypes[type] ?? type }),
    delete: (path, options) => call('DELETE', path, options),
    async create(path, object) {
      const answer = await api.post(path, object)
      if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
      return answer.body
    },
    async watch(path, query = {}, options) {
      const response = await send(cluster.watchExchange, 'GET', path, { ...options, query: { watch: true, ...query } })
      if (response.status !== 200) throw new Error(`watch ${path}: ${response.status} ${await bodyText(response)}`)
      return openWatch(cluster, response.body)
    },
    until: (collection, name, what, isSo) => within(cluster, what, follow(collection, name, isSo)),
    getUntil: (path, what, isSo) =>
      within(
        cluster,
        what,
        look(() => api.get(path), isSo),
      ),
    askUntil: (ask, what, isSo) => within(cluster, what, look(ask, isSo)),
  }

  async function call(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const response = await send(cluster.exchange, method, path, options)
    const text = await bodyText(response)
    return { status: response.status, headers: response.headers, text, body: parse(text) }
  }

  function send(exchange: ClusterHarness['exchange'], method: string, path: string, options: RequestOptions): Promise<WireResponse> {
    const { query = {}, body, type = 'application/json', accept = 'application/json', as, groups = [] } = options
    const headers = {
      accept,
      'user-agent': 'tranche-conformance',
      ...(body !== undefined && { 'content-type': type }),
      ...(as !== undefined && { 'impersonate-user': as }),
      ...(groups.length > 0 && { 'impersonate-group': groups.join(',') }),
    }
    return exchange({ method, path: withQuery(path, query), headers, body: typeof body === 'object' ? JSON.stringify(body) : body }, signal)
  }

  async function look(ask: () => Promise<Answer>, isSo: (answer: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const answer = await ask()
      if (isSo(answer)) return answer
      await sleep(cluster.clock, LOOK_AGAIN_MS, signal)
    }
  }

  async function follow(collection: string, name: string, isSo: (object: Body | undefined) => boolean): Promise<Body | undefined> {
    const query = { fieldSelector: `metadata.name=${name}` }
    const { status, text, body } = await api.get(collection, { query })
    if (status !== 200) throw new Error(`GET ${collection}: ${status} ${text}`)
    const found = body.items[0]
    if (isSo(found)) return found
    const watch = await api.watch(collection, { ...query, resourceVersion: body.metadata.resourceVersion })
    try {
      for (;;) {
        const { type, object } = await watch.read()
        const current = type === 'DELETED' ? undefined : object
        if (type !== 'BOOKMARK' && isSo(current)) return current
      }
    } finally {
      await watch.close()
    }
  }

  return api
}

function withQuery(path: string, query: Query): string {
  const entries = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]))
  return entries.length === 0 ? path : `${path}?${entries.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`
}

function parse(text: string): Body {
  try {
    return JSON.parse(text) as Body
  } catch {
    return {} as Body
  }
}
