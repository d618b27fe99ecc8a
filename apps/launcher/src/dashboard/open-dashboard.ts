import { type Caller, readOwnUser, type RunningApi, startApi } from '@tranche/api'
import {
  type ClusterSource,
  type CommandIo,
  connectCluster,
  explainClusterError,
  type ExitCode,
  exitCodes,
  listenForStop,
  type OpenCluster,
  VERSION,
  whenAborted,
} from '@tranche/cli'
import { systemClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { createStderrLogger } from '../logging/logging.ts'
import type { DashboardOptions } from '../options/dashboard-options.ts'
import { checkRights, mayWatchEvents } from './check-rights.ts'
import { BUILD_DASHBOARD, findDashboard } from './find-dashboard.ts'
import { openBrowser } from './open-browser.ts'

/** Maximum duration of a shutdown, in milliseconds. */
const STOP_GRACE_MS = 1_800

const HINT = 'Press Enter in the terminal of tranche dashboard, or start it again, and open the link that it prints.'

/**
 * Serves the dashboard on 127.0.0.1 with the rights of the kubeconfig's user, until a stop signal. With `--server`, only opens the dashboard
 * of that server.
 *
 * @throws {AppError} KUBECONFIG_INVALID, API_UNREACHABLE, API_REFUSED, ACCESS_DENIED, PORT_IN_USE, FILE_UNREADABLE
 */
export async function openDashboard(options: DashboardOptions, io: CommandIo): Promise<ExitCode> {
  const { source } = options
  if (source.kind === 'cluster') return serveOwn({ ...options, source }, io)
  const url = `${source.url.replace(/\/$/, '')}/dashboard/`
  io.out.write(`${url}\n`)
  if (options.opens) await openBrowser(url, io.env)
  return exitCodes.done
}

async function serveOwn({ source, ...options }: DashboardOptions & { readonly source: ClusterSource }, io: CommandIo): Promise<ExitCode> {
  const page = findDashboard()
  if (page === undefined) throw notBuilt()
  await using open = await connectCluster(source, io)
  const stop = listenForStop(STOP_GRACE_MS)
  try {
    const user = await readUser(open, options.namespace)
    const api = await startOwnApi(open, { ...options, ...user, page })
    try {
      io.err.write(`${servingText(open, user.caller, options.namespace)}\n`)
      if (!user.events) io.err.write('You may not list and watch events, so the dashboard shows none.\n')
      const stopped = whenAborted(stop.signal)
      await Promise.race([api.ready, api.stopped, stopped])
      if (!stop.signal.aborted) await share(api, options, io)
      await Promise.race([stopped, api.stopped])
      return exitCodes.done
    } finally {
      await api.stop()
    }
  } finally {
    stop.release()
    if (io.in?.isTTY === true) io.in.destroy?.()
  }
}

/** The user of the kubeconfig. */
interface OwnUser {
  readonly caller: Caller
  /** Whether the user may watch events. */
  readonly events: boolean
}

async function readUser({ client, cluster }: OpenCluster, namespace: string | undefined): Promise<OwnUser> {
  try {
    // Fails with a better error than a watch if the cluster has no Rollouts.
    await client.text('/apis/rollouts.kruise.io/v1beta1')
    const caller = (await readOwnUser(client)) ?? { username: 'unknown', groups: [] }
    await checkRights(client, { caller, namespace })
    return { caller, events: await mayWatchEvents(client, { caller, namespace }) }
  } catch (error) {
    throw await explainClusterError(error, cluster)
  }
}

interface OwnApi extends OwnUser, Pick<DashboardOptions, 'namespace' | 'port'> {
  readonly page: string
}

function startOwnApi({ exchange, watchExchange }: OpenCluster, { caller, events, page, namespace, port }: OwnApi): Promise<RunningApi> {
  return startApi({
    exchange,
    watchExchange,
    clock: systemClock,
    log: createStderrLogger('warn', { program: 'tranche-dashboard' }),
    port,
    dashboard: page,
    ownUser: true,
    events,
    link: { caller, hint: HINT },
    version: VERSION,
    ...(namespace !== undefined && { namespaces: [namespace] }),
  })
}

function servingText({ cluster: { server, context } }: OpenCluster, { username }: Caller, namespace: string | undefined): string {
  const scope = namespace === undefined ? 'in all namespaces' : `in namespace ${namespace}`
  return `Serving the dashboard of ${server} (context ${context}) with the rights of user ${JSON.stringify(username)}, ${scope}.`
}

/** Prints a link and opens another one, because each works once; prints one more at each Enter. */
async function share(api: RunningApi, { opens }: Pick<DashboardOptions, 'opens'>, io: CommandIo): Promise<void> {
  const isOpen = opens && (await openBrowser(api.newLink() ?? '', io.env))
  const input = io.in?.isTTY === true ? io.in : undefined
  if (opens) io.err.write(isOpen ? 'Opened it in your browser. For another browser:\n' : 'No browser can be opened here. Open this link:\n')
  io.out.write(`${api.newLink()}\n`)
  io.err.write(`The link works once, for ten minutes${input === undefined ? '' : '; Enter prints another'}. Ctrl-C stops the dashboard.\n`)
  // An error on the terminal ends only the printing of further links.
  if (input !== undefined) printLinks(api, input, io).catch(() => {})
}

async function printLinks(api: RunningApi, input: NonNullable<CommandIo['in']>, io: CommandIo): Promise<void> {
  for await (const _line of input) io.out.write(`${api.newLink()}\n`)
}

function notBuilt(): AppError {
  return new AppError('FILE_UNREADABLE', 'the dashboard is not built', {
    hint: `Run ${BUILD_DASHBOARD} in the checkout.`,
  })
}
