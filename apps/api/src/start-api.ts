import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import type { ReleasePolicy } from '@tranche/api-schema'
import { type Certificate, type CertificateFiles, followCertificate, readCertificate } from '@tranche/certificates'
import type { Clock } from '@tranche/clock'
import { type SharedClusterCache, watchCluster, type WatchedCluster } from '@tranche/cluster'
import { AppError } from '@tranche/errors'
import { createKubeClient, type KubeClient, onServerClock, type Reflector, resourcePaths, traceExchange } from '@tranche/kube-client'
import { fieldManagers, LEASE_NAMESPACE } from '@tranche/kube-types'
import { type Logger, noTracer, type Tracer } from '@tranche/telemetry'
import { carryOut, getOrNone } from '@tranche/release-client'
import type { Exchange } from '@tranche/wire'
import { createOwnReviews } from './auth/own-reviews.ts'
import { rememberReviews } from './auth/remembered-reviews.ts'
import { createReviews } from './auth/reviews.ts'
import { type KeptEvent, watchEvents } from './cluster/events-watch.ts'
import { createObjectEventReads } from './cluster/object-events.ts'
import type { ReleaseReads } from './cluster/release-reads.ts'
import { createWatchedReads } from './cluster/watched-reads.ts'
import { createWatchedNodeSource } from './stream/watched-node-source.ts'
import { createNodeFeeds, type NodeFeeds } from './stream/node-feeds.ts'
import { createWatchedStreamSource } from './stream/watched-stream-source.ts'
import { createApi } from './create-api.ts'
import { createDoctor } from './doctor/create-doctor.ts'
import { createLinkLogin, type LinkLogin, type LinkLoginOptions } from './login/link-login.ts'
import { createLogin } from './login/login.ts'
import type { LoginOptions } from './login/login-options.ts'
import { createHookHandler } from './hooks/hook-handler.ts'
import type { ApiServer } from './http/create-server.ts'
import { type SendRequest, takeRequests } from './http/take-requests.ts'
import { defaultLimits, type Limits } from './limits/limits.ts'
import { createApiMetrics } from './http/metrics.ts'
import { createPlanner } from './plan/create-planner.ts'
import { createStreamHub, type StreamHub, type StreamSource } from './stream/stream-hub.ts'

/** Owner of the certificate, for messages. */
const owner = { of: 'the REST API', options: { cert: '--tls-cert-file', key: '--tls-key-file' } }

const LOOPBACK = '127.0.0.1'
const DEFAULT_VERSION = '0.1.0'

/** Options of an API that does not listen itself. */
export interface UnboundApiOptions {
  readonly exchange: Exchange
  /** Namespaces to watch, at least one. @default every namespace */
  readonly namespaces?: readonly string[]
  /** Exchange for watches. @default exchange */
  readonly watchExchange?: Exchange
  /** Cluster cache shared with other programs of this process; its creator starts it. @default one of its own */
  readonly clusterCache?: SharedClusterCache
  readonly clock: Clock
  readonly log: Logger
  readonly limits?: Partial<Limits>
  /** Origins allowed by CORS. @default none */
  readonly corsOrigins?: readonly string[]
  /** Addresses or CIDR ranges of proxies whose `X-Forwarded-For` is trusted. @default none */
  readonly trustProxies?: readonly string[]
  /** Accepted audiences of tokens. @default the API server's own */
  readonly audiences?: readonly string[]
  /** Whether hooks are on: pipelines authenticate with Secrets that carry the hook label. @default false */
  readonly hooks?: boolean
  /** Whether `/metrics` includes CPU and memory of the process. @default false */
  readonly withProcess?: boolean
  /** Browser login. @default off */
  readonly login?: LoginOptions | undefined
  /**
   * Whether the credentials of `exchange` belong to the only user, who logs in by `link`. Then their rights decide, and bearer tokens are
   * refused. Actions are written and recorded as by the command line. @default false: the API has an account of its own
   */
  readonly ownUser?: boolean
  /** Whether the account may list and watch events; without it, none are shown. @default true */
  readonly events?: boolean
  /** Folder of the built dashboard. @default none: its paths say how to build it */
  readonly dashboard?: string | undefined
  /** Whether answers are validated against their schemas; expensive. @default false */
  readonly checkAnswers?: boolean
  /** Seed of the reconnect jitter. @default 0 */
  readonly seed?: number
  /** Namespace of the Lease of controllers. @default kube-system */
  readonly leaseNamespace?: string | undefined
  /** Version in the user agent. @default 0.1.0 */
  readonly version?: string
  /** Tracer. @default exports no spans */
  readonly tracer?: Tracer | undefined
}

/** Options of an API process. */
export interface ApiOptions extends UnboundApiOptions {
  /** Address to listen on. @default 127.0.0.1 */
  readonly host?: string
  /** Port to listen on; 0 picks a free one. */
  readonly port: number
  /** Certificate files; reloaded on change. @default plain HTTP */
  readonly tls?: CertificateFiles | undefined
  /** Login by links with one-time codes; only on loopback, instead of `login`. @default off */
  readonly link?: LinkLoginOptions | undefined
}

/** A running API. */
export interface RunningApi {
  /** Base URL: `http://127.0.0.1:8080`, or `https://…` with a certificate. */
  readonly url: string
  /** @returns a link that logs one browser in, within ten minutes; undefined without the option `link` */
  newLink(): string | undefined
  /** Resolves when the initial lists have arrived. */
  readonly ready: Promise<void>
  /** Resolves after `stop`; rejects with the error that ended the API early. */
  readonly stopped: Promise<void>
  /** Shuts down gracefully: refuses new requests, ends streams, waits for requests in progress. */
  stop(): Promise<void>
}

/** An API that does not listen; its owner passes requests to `send`. */
export interface UnboundApi extends Omit<RunningApi, 'url' | 'newLink'> {
  readonly send: SendRequest
}

/**
 * Starts the REST API against one API server. It listens at once; `/readyz` and reads answer 503 until the initial lists have arrived.
 *
 * @throws {AppError} PORT_IN_USE; OPTION_INVALID if the certificate is not usable
 */
export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { clock } = options
  const log = options.log.child({ program: fieldManagers.api })
  const certificate = options.tls === undefined ? undefined : readCertificate(options.tls, owner)
  let url = ''
  const link = linkLoginOf(options, () => url)
  const { app, watch } = await makeApi(options, { certificate, link })
  url = await listen(app, options)
  const onChange = (renewed: Certificate): void => (app.server as unknown as TlsServer).setSecureContext({ ...renewed })
  const forget = certificate === undefined ? () => {} : followCertificate(options.tls!, certificate, { clock, log, owner, onChange })
  const { stop, ...running } = watch()
  return {
    url,
    newLink: () => link?.newLink(),
    ...running,
    async stop() {
      forget()
      await stop()
    },
  }
}

/** Starts the REST API against one API server, without listening. */
export async function startUnboundApi(options: UnboundApiOptions): Promise<UnboundApi> {
  const { app, watch } = await makeApi(options, {})
  const send = takeRequests(app)
  await app.ready()
  return { send, ...watch() }
}

type Running = Omit<RunningApi, 'url' | 'newLink'>

interface MadeApi {
  readonly app: ApiServer
  /** Starts watching the cluster. */
  watch(): Running
}

/** Every user who can read the link can use it, so it must not leave this machine. */
function linkLoginOf({ link, host = LOOPBACK, clock }: ApiOptions, origin: () => string): LinkLogin | undefined {
  if (link === undefined) return undefined
  if (host !== LOOPBACK) throw new Error(`links with codes are only for ${LOOPBACK}, and the API listens on ${host}`)
  return createLinkLogin(link, { clock, origin })
}

interface ListenerParts {
  readonly certificate?: Certificate | undefined
  readonly link?: LinkLogin | undefined
}

async function makeApi(given: UnboundApiOptions, { certificate, link }: ListenerParts): Promise<MadeApi> {
  const options = { ...onServerClock(given), log: given.log.child({ program: fieldManagers.api }) }
  // Timestamps of token issuers and hook senders are compared with the clock of this machine, not of the API server.
  const ownClock = given.clock
  const { clock, log, tracer = noTracer, ownUser = false } = options
  const client = clientFor(options, tracer)
  const views = createViews(options, client)
  const { reads, source, feeds } = views
  const metrics = createApiMetrics({ withProcess: given.withProcess ?? false })
  const reviews = rememberReviews(
    ownUser ? createOwnReviews(client, (rollout) => reads.summary(rollout)?.daemonSet) : createReviews(client, options.audiences ?? []),
    clock,
    { onReview: metrics.onReview },
  )
  const state: ApiState = { hub: undefined, isStopping: false }
  const limits = { ...defaultLimits, ...options.limits }
  const app = await createApi({
    reads,
    reviews,
    carryOut: (order, timeUp) => {
      const channel = ownUser ? ({ via: 'cli', from: undefined } as const) : {}
      const ports = { client, clock, log, component: componentOf(options) }
      return carryOut(ports, { ...order, ...channel, trace: tracer.current() }, { timeUp })
    },
    readPolicy: (key, signal) => getOrNone<ReleasePolicy>(client, resourcePaths.releasePolicies, key, { signal }),
    runDoctor: createDoctor({
      ...{ client, exchange: options.exchange, clock, ownClock, reviews, ownUser },
      scope: options.namespaces,
      namespaces: () => reads.keys().map(({ namespace }) => namespace),
      leaseNamespace: options.leaseNamespace ?? LEASE_NAMESPACE,
      version: options.version ?? DEFAULT_VERSION,
    }),
    readObjectEvents: createObjectEventReads(client, clock),
    hooks: options.hooks === true ? createHookHandler({ client, clock: ownClock, log }) : undefined,
    login: options.login === undefined ? undefined : createLogin(options.login, { clock: ownClock, log }),
    link,
    acceptsTokens: !ownUser,
    stream: () => (state.hub === undefined ? undefined : { hub: state.hub, source, feeds }),
    clock,
    log,
    limits,
    plan: createPlanner({ client, clock, limits }),
    corsOrigins: options.corsOrigins ?? [],
    trustProxies: options.trustProxies ?? [],
    certificate,
    dashboard: options.dashboard,
    checkAnswers: options.checkAnswers ?? false,
    isSynced: () => state.hub !== undefined,
    isStopping: () => state.isStopping,
    metrics,
    tracer,
    onStream: metrics.onStream,
  })
  return { app, watch: () => startWatches({ app, clock, log, state, withEvents: options.events ?? true, ...views }) }
}

function clientFor(options: UnboundApiOptions, tracer: Tracer): KubeClient {
  const { watchExchange = options.exchange, clock, log, seed = 0, version = DEFAULT_VERSION } = options
  const exchange = traceExchange(options.exchange, tracer)
  return createKubeClient({ exchange, watchExchange, clock, log, seed, userAgent: `${componentOf(options)}/${version}` })
}

/** Field manager and component of everything that is written. */
function componentOf({ ownUser = false }: UnboundApiOptions): string {
  return ownUser ? fieldManagers.cli : fieldManagers.api
}

/** Watches of the cluster, and what is read from them. */
interface Views {
  readonly cluster: WatchedCluster
  readonly events: Reflector<KeptEvent>
  readonly reads: ReleaseReads
  readonly source: StreamSource
  readonly feeds: NodeFeeds
}

function createViews({ clock, log, seed = 0, namespaces, clusterCache }: UnboundApiOptions, client: KubeClient): Views {
  const scope = namespaces === undefined ? {} : { namespaces }
  const shared = clusterCache === undefined ? {} : { clusterCache }
  const cluster = watchCluster({ client, clock, log, seed, withRollouts: true, forReports: true, ...scope, ...shared })
  const events = watchEvents({ client, clock, log, seed, ...scope })
  const reads = createWatchedReads({ cluster, events, clock })
  const source = createWatchedStreamSource({ cluster, events, reads })
  return { cluster, events, reads, source, feeds: createNodeFeeds({ source: createWatchedNodeSource(cluster, clock), clock, log }) }
}

interface ApiState {
  /** Undefined until the initial lists have arrived. */
  hub: StreamHub | undefined
  isStopping: boolean
}

interface WatchParts extends Views {
  readonly app: ApiServer
  readonly clock: Clock
  readonly log: Logger
  readonly state: ApiState
  readonly withEvents: boolean
}

function startWatches({ app, clock, log, state, withEvents, cluster, events, source, feeds }: WatchParts): Running {
  const ending = new AbortController()
  const end = Promise.withResolvers<void>()
  if (withEvents) events.start(ending.signal).catch(end.reject)
  const ready = cluster.start(ending.signal, end.reject).then(() => {
    state.hub = createStreamHub({ source, clock, log })
  })
  ready.catch(end.reject)
  return {
    ready,
    stopped: end.promise,
    async stop() {
      state.isStopping = true
      await app.close()
      state.hub?.close()
      feeds.close()
      ending.abort(new Error('the API is stopping'))
      end.resolve()
    },
  }
}

async function listen(app: ApiServer, { host = LOOPBACK, port, tls }: ApiOptions): Promise<string> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    if ((error as { code?: string }).code !== 'EADDRINUSE') throw error
    throw new AppError('PORT_IN_USE', `another program listens on port ${port} of ${host}`, {
      details: { port },
      hint: 'Choose another port; 0 picks a free one.',
      cause: error,
    })
  }
  const { address, port: taken, family } = app.server.address() as AddressInfo
  return `${tls === undefined ? 'http' : 'https'}://${family === 'IPv6' ? `[${address}]` : address}:${taken}`
}
