import {
  type BatchReport,
  type DoctorReport,
  type EventReport,
  type Explanation,
  type Forecast,
  type ForecastRequest,
  type HistoryReport,
  type LoginMethods,
  loginMethodsSchema,
  type Me,
  meSchema,
  type NodeEvents,
  type NodeReport,
  type NodesQuery,
  PAGE_MAX,
  type Permissions,
  type PolicyReport,
  type RevisionReport,
  type RevisionTemplate,
  type RolloutReport,
  type RolloutsQuery,
  type RolloutSummary,
  type StreamMessage,
  type ValidateAnswer,
  type ActionAnswer,
  actionAnswerSchema,
  type ActionBody,
  type ActionType,
} from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { readStream, type StreamOptions } from './read-stream.ts'
import { type ApiCallOptions, type ApiRequest, type RestConnection, DEFAULT_DEADLINE_MS, send } from './send.ts'

/** Namespace and name of an object. */
export interface ApiKey {
  readonly namespace: string
  readonly name: string
}

/** One page of a list. */
export interface ApiPage<T> {
  readonly items: readonly T[]
  /** Number of items that match the filter, over all pages. */
  readonly total: number
  /** Cursor of the next page; absent on the last page. */
  readonly next?: string | undefined
}

/** Options for sending an action. */
export interface ActionCall extends ApiCallOptions {
  /** @default a random key: the client repeats the action if no answer came, and the server carries it out once */
  readonly idempotencyKey?: string | undefined
  /** How long the server waits for the controller's answer, in milliseconds; at most 60000. @default 0 */
  readonly waitMs?: number | undefined
}

/**
 * REST API client with one method per route. Every response is checked against its schema.
 *
 * Methods reject with `ApiProblemError` (an `AppError` with the code of the problem) when the server returns a problem. Without an answer
 * they reject with API_UNREACHABLE or API_DEADLINE, and after an abort with the signal's reason. The client retries GET requests and
 * requests with an `Idempotency-Key`, nothing else.
 */
export interface ApiClient {
  /** One page, limited to a namespace if the query names one. */
  rollouts(query?: Partial<RolloutsQuery>, options?: ApiCallOptions): Promise<ApiPage<RolloutSummary>>
  /** Reads all pages. */
  allRollouts(query?: Partial<RolloutsQuery>, options?: ApiCallOptions): Promise<readonly RolloutSummary[]>
  rollout(key: ApiKey, options?: ApiCallOptions): Promise<RolloutReport>
  nodes(key: ApiKey, query?: Partial<NodesQuery>, options?: ApiCallOptions): Promise<ApiPage<NodeReport>>
  /** Reads all pages. */
  allNodes(key: ApiKey, query?: Partial<NodesQuery>, options?: ApiCallOptions): Promise<readonly NodeReport[]>
  explainNode(key: ApiKey, node: string, options?: ApiCallOptions): Promise<Explanation>
  /** Kubernetes events about a node and its pod, as far as the user may list them. */
  nodeEvents(key: ApiKey, node: string, options?: ApiCallOptions): Promise<NodeEvents>
  explain(key: ApiKey, options?: ApiCallOptions): Promise<Explanation>
  batches(key: ApiKey, options?: ApiCallOptions): Promise<readonly BatchReport[]>
  revisions(key: ApiKey, options?: ApiCallOptions): Promise<readonly RevisionReport[]>
  /** One revision with its template, by number or hash. */
  revision(key: ApiKey, revision: string, options?: ApiCallOptions): Promise<RevisionTemplate>
  history(key: ApiKey, options?: ApiCallOptions): Promise<HistoryReport>
  events(key: ApiKey, options?: ApiCallOptions): Promise<readonly EventReport[]>
  /** Release policy in words. */
  policy(key: ApiKey, options?: ApiCallOptions): Promise<PolicyReport>
  /** Rights of the user of the token. */
  permissions(key: ApiKey, options?: ApiCallOptions): Promise<Permissions>
  act(key: ApiKey, type: ActionType, body: ActionBody, call?: ActionCall): Promise<ActionAnswer>
  /** Forecasts a release. Writes nothing, but is expensive for the server, so it is not retried. */
  plan(key: ApiKey, request: ForecastRequest, options?: ApiCallOptions): Promise<Forecast>
  /** History of a DaemonSet, with or without a Rollout. */
  daemonSetHistory(key: ApiKey, options?: ApiCallOptions): Promise<HistoryReport>
  rollBackDaemonSet(key: ApiKey, body: DaemonSetRollback, call?: ActionCall): Promise<ActionAnswer>
  /** Ways to log in that the server has. Needs no token. */
  loginMethods(options?: ApiCallOptions): Promise<LoginMethods>
  /** User of the token. */
  me(options?: ApiCallOptions): Promise<Me>
  /** Checks the prerequisites of the cluster with the rights of the user of the token, as `tranche doctor` does. */
  doctor(options?: ApiCallOptions): Promise<DoctorReport>
  /** Checks documents in YAML or JSON, as `tranche lint` does. Not retried. */
  validate(manifests: string, options?: ApiCallOptions): Promise<ValidateAnswer>
  /** Current state, then changes until the signal aborts; of one namespace or one Rollout if given. Also the nodes of one Rollout. */
  stream(options: StreamOptions & StreamFilter): AsyncGenerator<StreamMessage, void, undefined>
}

/** Filter of a stream. */
export interface StreamFilter {
  readonly namespace?: string
  /** Only this Rollout in the namespace. */
  readonly name?: string
  /** Rollout whose nodes are streamed too, whatever the filter is. */
  readonly nodes?: ApiKey
}

/** Target revision of a DaemonSet rollback. */
export interface DaemonSetRollback {
  readonly toRevision?: string
  /** Revision of the current template; the server refuses the rollback if the template has another one. */
  readonly revision?: string
  /** Reports what would be written, and writes nothing. */
  readonly dryRun?: boolean
  readonly reason?: string
}

/** Schema that checks a value and returns it with its type. */
interface Schema<T> {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: { readonly message: string } }
}

/** Creates a client over a connection. */
export function createApiClient(connection: RestConnection): ApiClient {
  const get = async <T>(path: string, schema: Schema<T> | PickSchema<T>, options: ApiCallOptions = {}): Promise<T> =>
    parsed(path, await Promise.all([loaded(schema), send(connection, { method: 'GET', path, isSafe: true }, options)]))
  const post = async <T>(path: string, body: unknown, schema: PickSchema<T>, options: ApiCallOptions = {}): Promise<T> =>
    parsed(path, await Promise.all([loaded(schema), send(connection, { method: 'POST', path, body, isSafe: false }, options)]))
  const items = async <T>(
    path: string,
    schema: PickSchema<{ readonly items: readonly T[] }>,
    options?: ApiCallOptions,
  ): Promise<readonly T[]> => (await get(path, schema, options)).items
  const act = async (path: string, body: unknown, call: ActionCall = {}): Promise<ActionAnswer> =>
    parsed(path, [actionAnswerSchema, await send(connection, actionRequest(path, body, call), callLimits(call))])

  const client: ApiClient = {
    rollouts: (query = {}, options) =>
      get(withQuery(rolloutsPath(query.namespace), { ...query, namespace: undefined }), (schemas) => schemas.rolloutPage, options),
    allRollouts: (query, options) => everyPage((page) => client.rollouts({ ...query, ...page }, options)),
    rollout: (key, options) => get(rolloutPath(key), (schemas) => schemas.rolloutReportSchema, options),
    nodes: (key, query = {}, options) => get(withQuery(`${rolloutPath(key)}/nodes`, query), (schemas) => schemas.nodePage, options),
    allNodes: (key, query, options) => everyPage((page) => client.nodes(key, { ...query, ...page }, options)),
    explainNode: (key, node, options) => get(nodePath(key, node), (schemas) => schemas.explanationSchema, options),
    nodeEvents: (key, node, options) => get(`${nodePath(key, node)}/events`, (schemas) => schemas.nodeEventsSchema, options),
    explain: (key, options) => get(`${rolloutPath(key)}/explain`, (schemas) => schemas.explanationSchema, options),
    batches: (key, options) => items(`${rolloutPath(key)}/batches`, (schemas) => schemas.batchList, options),
    revisions: (key, options) => items(`${rolloutPath(key)}/revisions`, (schemas) => schemas.revisionList, options),
    revision: (key, revision, options) =>
      get(`${rolloutPath(key)}/revisions/${encodeURIComponent(revision)}`, (schemas) => schemas.revisionTemplateSchema, options),
    history: (key, options) => get(`${rolloutPath(key)}/history`, (schemas) => schemas.historyReportSchema, options),
    events: (key, options) => items(`${rolloutPath(key)}/events`, (schemas) => schemas.eventList, options),
    policy: (key, options) => get(`${rolloutPath(key)}/policy`, (schemas) => schemas.policyReportSchema, options),
    permissions: (key, options) => get(`${rolloutPath(key)}/permissions`, (schemas) => schemas.permissionsSchema, options),
    act: (key, type, body, call) => act(`${rolloutPath(key)}/actions/${type}`, body, call),
    plan: (key, body, options) => post(`${rolloutPath(key)}/plan`, body, (schemas) => schemas.forecastSchema, options),
    daemonSetHistory: (key, options) => get(`${daemonSetPath(key)}/history`, (schemas) => schemas.historyReportSchema, options),
    rollBackDaemonSet: (key, body, call) => act(`${daemonSetPath(key)}/rollback`, body, call),
    loginMethods: (options) => get('api/v1/login-methods', loginMethodsSchema, options),
    me: (options) => get('api/v1/me', meSchema, options),
    doctor: (options) => get('api/v1/doctor', (schemas) => schemas.doctorReportSchema, options),
    validate: (manifests, options) => post('api/v1/validate', { manifests }, (schemas) => schemas.validateAnswerSchema, options),
    stream: ({ namespace, name, nodes, ...options }) => {
      const query = { namespace, name, nodes: nodes && `${nodes.namespace}/${nodes.name}` }
      return readStream(connection, { method: 'GET', path: withQuery('api/v1/stream', query), isSafe: true }, options)
    },
  }
  return client
}

function rolloutsPath(namespace: string | undefined): string {
  return namespace === undefined || namespace === '' ? 'api/v1/rollouts' : `api/v1/namespaces/${encodeURIComponent(namespace)}/rollouts`
}

function rolloutPath({ namespace, name }: ApiKey): string {
  return `${rolloutsPath(namespace)}/${encodeURIComponent(name)}`
}

function nodePath(key: ApiKey, node: string): string {
  return `${rolloutPath(key)}/nodes/${encodeURIComponent(node)}`
}

function daemonSetPath({ namespace, name }: ApiKey): string {
  return `api/v1/namespaces/${encodeURIComponent(namespace)}/daemonsets/${encodeURIComponent(name)}`
}

function withQuery(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const text = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&')
  return text === '' ? path : `${path}?${text}`
}

/** Reads all pages at the maximum page size. If the list changes meanwhile, each page shows its own moment. */
async function everyPage<T>(read: (page: { limit: number; cursor?: string }) => Promise<ApiPage<T>>): Promise<readonly T[]> {
  const all: T[] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor === undefined ? { limit: PAGE_MAX } : { limit: PAGE_MAX, cursor })
    all.push(...page.items)
    cursor = page.next
  } while (cursor !== undefined)
  return all
}

function actionRequest(path: string, body: unknown, { waitMs = 0, idempotencyKey = crypto.randomUUID() }: ActionCall): ApiRequest {
  const wait = Math.min(Math.ceil(waitMs / 1000), LONGEST_WAIT_SECONDS)
  const headers = { 'idempotency-key': idempotencyKey }
  return { method: 'POST', path: withQuery(path, { wait: wait > 0 ? wait : undefined }), body, headers, isSafe: true }
}

const LONGEST_WAIT_SECONDS = 60

/** Adds the server's wait to the deadline: while the server waits, it is not late. */
function callLimits({ waitMs = 0, deadlineMs = DEFAULT_DEADLINE_MS, signal }: ActionCall): ApiCallOptions {
  return { signal, deadlineMs: deadlineMs + waitMs }
}

/** Picks the schema of an answer from those that are loaded with the first call that needs one. */
type PickSchema<T> = (schemas: typeof import('./later-schemas.ts')) => Schema<T>

/**
 * Loads the schemas that a client otherwise loads with the first call that needs one. For programs in virtual time, whose clock does not
 * wait until a module is loaded.
 */
export async function loadSchemas(): Promise<void> {
  await import('./later-schemas.ts')
}

async function loaded<T>(schema: Schema<T> | PickSchema<T>): Promise<Schema<T>> {
  return typeof schema === 'function' ? schema(await import('./later-schemas.ts')) : schema
}

function parsed<T>(path: string, [schema, text]: readonly [Schema<T>, string]): T {
  const value = schema.safeParse(jsonOf(text))
  if (value.success) return value.data
  throw new AppError('API_REFUSED', `/${path} returned a body that does not match its schema: ${value.error.message}`, {
    details: { path },
    hint: 'Check that this is the address of the Tranche REST API and that its version matches.',
  })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
