import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { ApiProblemError } from '@tranche/api-client'
import { systemClock } from '@tranche/clock'
import { type ReactNode, useEffect, useMemo } from 'react'
import { createLiveConnection } from '../live/live-connection.ts'
import { createNodeStore } from '../live/node-store.ts'
import { createReleaseStore } from '../live/release-store.ts'
import { soon } from '../live/soon.ts'
import { type DashboardPorts, PortsProvider } from '../ports/dashboard-ports.ts'
import { readFailedAgain } from '../ports/read-failed-again.ts'
import { type UserSession, SessionGate } from '../session/session.tsx'
import { CurrentView } from './current-view.tsx'
import { Layout } from './layout.tsx'
import { copyLink, urlOf, usePlace } from './use-place.ts'
import { useTitle } from './use-title.ts'

/** The whole page: session, live data, layout and the view of the URL. */
export function DashboardPage(): ReactNode {
  return <SessionGate>{(session) => <SignedIn key={session.me.username} session={session} />}</SessionGate>
}

function SignedIn({ session }: { readonly session: UserSession }): ReactNode {
  const { place, go } = usePlace()
  const { api, serverClock } = session
  const queries = useMemo(() => createQueries(session), [session])
  const live = useMemo(() => connectLive(session), [session])
  useEffect(() => live.open(), [live])
  useEffect(() => readFailedAgain(queries, live.releases), [queries, live])
  useTitle(place, live.releases)
  const ports = useMemo<DashboardPorts>(
    () => ({ api, releases: live.releases, nodes: live.nodes, showNodes: live.showNodes, nowMs: serverClock.nowMs, urlOf, go, copyLink }),
    [api, live, serverClock, go],
  )
  return (
    <QueryClientProvider client={queries}>
      <PortsProvider value={ports}>
        <Layout session={session} place={place}>
          <CurrentView place={place} />
        </Layout>
      </PortsProvider>
    </QueryClientProvider>
  )
}

/** Reads are repeated by the client itself, and renewed by the stream. A browser that calls itself offline may reach the API all the same. */
function createQueries({ expire }: UserSession): QueryClient {
  const onError = (error: unknown): void => {
    if (error instanceof ApiProblemError && error.status === 401) expire()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: { networkMode: 'always', retry: false, staleTime: 10_000, refetchOnWindowFocus: true },
      mutations: { networkMode: 'always' },
    },
  })
}

interface Live extends Pick<DashboardPorts, 'releases' | 'nodes' | 'showNodes'> {
  readonly open: () => () => void
}

function connectLive({ api, serverClock, expire }: UserSession): Live {
  const releases = createReleaseStore(soon)
  const nodes = createNodeStore()
  const { open, showNodes } = createLiveConnection({
    api,
    clock: systemClock,
    releases,
    nodes,
    nowMs: serverClock.nowMs,
    onSignedOut: expire,
  })
  return { releases, nodes, showNodes, open }
}
