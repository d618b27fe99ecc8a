import { QueryClient } from '@tanstack/react-query'
import { type Clock, systemClock } from '@tranche/clock'
import { createNodeStore, createReleaseStore, type DashboardPorts } from '@tranche/dashboard'
import { createKubeClient, type KubeClient, onServerClock } from '@tranche/kube-client'
import { fieldManagers, type ObjectKey } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import type { Exchange } from '@tranche/wire'
import { createHostClient } from '../client/host-client.ts'
import { createOwnRights, type OwnRights } from '../client/own-rights.ts'
import { pollReleases, type ReleasePoll } from '../live/poll-releases.ts'
import { readFleet, readRelease, readVersions, type ReadFleet } from '../reading/read-release.ts'
import { createReleaseCache } from '../reading/release-cache.ts'
import { createHostStatus, type HostStatusStore } from './host-status.ts'

/** Connection of a host. */
export interface HostConnection {
  /** Carries requests to the Kubernetes API with the rights of the host's user. */
  readonly exchange: Exchange
  /** Component that the event of an action names: `tranche-headlamp`. */
  readonly component: string
  /** @param client sends with the rights of the user */
  readonly username: (client: KubeClient) => Promise<string>
  /** What the fleet shows: these Rollouts, those of these namespaces, or all (null). */
  readonly fleet: () => readonly ObjectKey[] | readonly string[] | null
  /** Rights of the user. @default as the API server answers */
  readonly rights?: OwnRights
}

/** What the pages need of a host, and the loop that keeps it current. */
export interface HostServices extends Pick<DashboardPorts, 'api' | 'releases' | 'nodes' | 'showNodes' | 'nowMs'> {
  readonly queries: QueryClient
  readonly status: HostStatusStore
  readonly poll: ReleasePoll
}

/** Builds the services over a connection. Nothing is sent before the poll is opened. */
export function createHostServices(connection: HostConnection): HostServices {
  const { exchange, clock } = onServerClock({
    exchange: connection.exchange,
    watchExchange: connection.exchange,
    urgentExchange: connection.exchange,
    clock: systemClock,
  })
  // The field manager of the command line: the change observer leaves out its recorded actions.
  const userAgent = `${fieldManagers.cli}/0.1.0`
  const client = createKubeClient({ exchange, clock, userAgent, log: silentLogger })
  const reader = { client, clock }
  const cache = createReleaseCache((key) => readRelease(reader, key), clock)
  const releases = createReleaseStore((callback) => requestAnimationFrame(callback))
  const nodes = createNodeStore()
  const status = createHostStatus()
  const readWanted = async (signal?: AbortSignal): Promise<ReadFleet> => fleetOf(connection.fleet(), { reader, cache, signal })
  const poll = pollReleases({
    ...{ clock, releases, nodes },
    readFleet: readWanted,
    readRelease: (key) => cache.renew(key),
    readVersions: (key, signal) => readVersions(reader, key, signal),
    onLacks: (lacks) => status.set({ lacks }),
    onError: (error) => status.set({ error }),
    isVisible: () => document.visibilityState === 'visible',
  })
  const api = createHostClient({
    ...{ client, clock, readFleet: readWanted },
    component: connection.component,
    rights: connection.rights ?? createOwnRights(client),
    username: () => connection.username(client),
    releases: {
      get: (key) => cache.get(key),
      forget(key) {
        cache.forget(key)
        poll.now()
      },
    },
  })
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 10_000 } } })
  return { api, releases, nodes, showNodes: poll.show, nowMs: () => clock.nowMs(), queries, status, poll }
}

interface FleetSource {
  readonly reader: { readonly client: KubeClient; readonly clock: Clock }
  readonly cache: ReturnType<typeof createReleaseCache>
  readonly signal: AbortSignal | undefined
}

async function fleetOf(wanted: ReturnType<HostConnection['fleet']>, { reader, cache, signal }: FleetSource): Promise<ReadFleet> {
  if (!isKeys(wanted)) return readFleet(reader, wanted, signal)
  const read = await Promise.all(wanted.map((key) => cache.get(key)))
  return { facts: read.map(({ facts }) => facts), lacks: read.flatMap(({ lacks }) => lacks) }
}

function isKeys(wanted: ReturnType<HostConnection['fleet']>): wanted is readonly ObjectKey[] {
  return wanted !== null && wanted.length > 0 && typeof wanted[0] === 'object'
}
