import { type Clock, systemClock } from '@tranche/clock'
import { isAppError } from '@tranche/errors'
import {
  createKubeClient,
  createUndiciExchange,
  type KubeClient,
  type LoadedCluster,
  loadKubeConfig,
  onServerClock,
} from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import {
  type AskOptions,
  createKubeReleaseClient,
  type FollowEnd,
  type FollowOptions,
  type ReleaseClient,
  type ReleasePart,
  type SeenRelease,
} from '@tranche/release-client'
import type { Exchange } from '@tranche/wire'
import type { CommandIo } from '../process/command-io.ts'
import type { AccessOptions, ClusterSource, ServerSource } from '../options/access-options.ts'
import { explained, explainedOfServer } from './explain-error.ts'
import { explainMissing } from './find-rollout.ts'
import { mapped } from './mapped.ts'
import { sayingRequests } from './say-requests.ts'
import { userAgent } from '../process/version.ts'

/** Release client and namespace of a command. */
export interface CommandSession extends AsyncDisposable {
  readonly releaseClient: ReleaseClient
  /** Namespace of `-n`, else of the context, else `default`. */
  readonly namespace: string
  readonly clock: Clock
}

/** Connection to a cluster by kubeconfig. */
export interface OpenCluster extends AsyncDisposable {
  readonly client: KubeClient
  readonly exchange: Exchange
  /** Carries watches. */
  readonly watchExchange: Exchange
  readonly cluster: LoadedCluster
  /** Clock of the API server, to which timestamps in the cluster refer. */
  readonly clock: Clock
}

/**
 * Connects to the cluster or the REST API.
 *
 * @throws {AppError} KUBECONFIG_INVALID; later requests throw API_UNREACHABLE and API_REFUSED, with server and context
 */
export async function openSession(access: AccessOptions, io: CommandIo): Promise<CommandSession> {
  if (access.source.kind === 'server') return openServer(access, access.source)
  const open = await openCluster(access.source, io)
  const releaseClient = createKubeReleaseClient({
    client: open.client,
    clock: open.clock,
    log: silentLogger,
    component: 'tranche-cli',
    via: 'cli',
  })
  return {
    releaseClient: withLimits(releaseClient, access, (error) => explained(error, open.cluster)),
    namespace: access.namespace ?? open.cluster.namespace,
    clock: open.clock,
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  }
}

/** Loads the REST client only if needed: its schemas take longer to load than a command takes to run. */
async function openServer(access: AccessOptions, source: ServerSource): Promise<CommandSession> {
  const { openRestReleaseClient } = await import('./open-rest.ts')
  return {
    releaseClient: withLimits(openRestReleaseClient(source), access, (error) => explainedOfServer(error, source)),
    namespace: access.namespace ?? 'default',
    clock: systemClock,
    [Symbol.asyncDispose]: async () => {},
  }
}

/** @throws {AppError} KUBECONFIG_INVALID */
export async function openCluster(
  { kubeconfig: path, verbosity, ...choice }: ClusterSource,
  { env, err }: CommandIo,
): Promise<OpenCluster> {
  const cluster = await loadKubeConfig({ clock: systemClock, path, ...choice, env })
  const { close, ...exchanges } = createUndiciExchange(cluster)
  const saying = (exchange: Exchange): Exchange => sayingRequests(exchange, { server: cluster.server, verbosity }, err)
  const said = {
    exchange: saying(exchanges.exchange),
    watchExchange: saying(exchanges.watchExchange),
    urgentExchange: saying(exchanges.urgentExchange),
  }
  const connection = onServerClock({ ...said, clock: systemClock })
  const { exchange, watchExchange, clock } = connection
  const client = createKubeClient({ ...connection, log: silentLogger, userAgent: userAgent('tranche-cli') })
  return { client, exchange, watchExchange, cluster, clock, [Symbol.asyncDispose]: close }
}

/** Applies the request timeout to every request, and explains every error. */
function withLimits(
  releaseClient: ReleaseClient,
  { requestTimeoutMs: deadlineMs }: AccessOptions,
  explain: (error: unknown) => unknown,
): ReleaseClient {
  const limited = (options: AskOptions = {}): AskOptions => ({ deadlineMs, ...options })
  const rejecting = async (error: unknown, key?: ObjectKey): Promise<never> => {
    const isMissing = key !== undefined && isAppError(error) && error.code === 'ROLLOUT_NOT_FOUND'
    throw isMissing ? await explainMissing(releaseClient, key).catch(explain) : explain(error)
  }
  const follow = releaseClient.follow?.bind(releaseClient)
  const about = async <T>(key: ObjectKey, answer: Promise<T>): Promise<T> => answer.catch((error: unknown) => rejecting(error, key))
  return {
    list: async (options) => releaseClient.list({ deadlineMs, ...options }).catch(rejecting),
    names: async (options) => releaseClient.names({ deadlineMs, ...options }).catch(rejecting),
    report: (key, options) => about(key, releaseClient.report(key, limited(options))),
    picture: (key, options) => about(key, releaseClient.picture(key, limited(options))),
    ...(follow !== undefined && {
      async *follow<P extends ReleasePart>(
        key: ObjectKey,
        options: FollowOptions<P>,
      ): AsyncGenerator<SeenRelease<P>, FollowEnd, undefined> {
        const change = (seen: SeenRelease<P>): SeenRelease<P> =>
          seen.trouble === undefined ? seen : { ...seen, trouble: explain(seen.trouble) }
        try {
          return yield* mapped(follow(key, { deadlineMs, ...options }), { change, end: 'stopped' })
        } catch (error) {
          return await rejecting(error, key)
        }
      },
    }),
    nodes: (key, options) => about(key, releaseClient.nodes(key, limited(options))),
    explain: (key, node, options) => about(key, releaseClient.explain(key, node, limited(options))),
    history: (key, options) => about(key, releaseClient.history(key, limited(options))),
    events: (key, options) => about(key, releaseClient.events(key, limited(options))),
    template: (key, revision, options) => about(key, releaseClient.template(key, revision, limited(options))),
    act: (key, action, options) => about(key, releaseClient.act(key, action, limited(options))),
  }
}
