import { QueryClientProvider } from '@tanstack/react-query'
import {
  type DashboardPorts,
  ErrorBoundary,
  FleetPage,
  type MissingParts,
  NodePage,
  pathOfPlace,
  type Place,
  PolicyPage,
  PortsProvider,
  RecordPage,
  RolloutPage,
} from '@tranche/dashboard'
import { type ReactNode, useEffect, useMemo } from 'react'
import { adoptStyles, FRAME_CLASS } from './adopt-styles.ts'
import { HostNote } from './host-note.tsx'
import type { HostServices } from './host-services.ts'

/** Properties of {@link HostFrame}. */
interface HostFrameProps {
  readonly services: HostServices
  /** Name of the host. */
  readonly host: string
  readonly scheme: 'light' | 'dark'
  readonly missing: MissingParts
  readonly urlOf: DashboardPorts['urlOf']
  readonly go: DashboardPorts['go']
  readonly children: ReactNode
}

/** Element around everything that a plugin shows: styles, stores, ports, and the loop that keeps them current. */
export function HostFrame({ services, host, scheme, missing, urlOf, go, children }: HostFrameProps): ReactNode {
  adoptStyles()
  useEffect(() => services.poll.open(), [services])
  const { api, releases, nodes, showNodes, nowMs, queries } = services
  const ports = useMemo<DashboardPorts>(
    () => ({ api, releases, nodes, showNodes, nowMs, urlOf, go, missing }),
    [api, releases, nodes, showNodes, nowMs, urlOf, go, missing],
  )
  return (
    // A canvas is drawn in the colours of one theme: the other theme draws it again.
    <div className={`${FRAME_CLASS} scheme-${scheme}`} key={scheme}>
      <QueryClientProvider client={queries}>
        <PortsProvider value={ports}>
          <div className="host-frame">
            {children}
            <HostNote services={services} missing={missing} host={host} />
          </div>
        </PortsProvider>
      </QueryClientProvider>
    </div>
  )
}

/** The page of a place. */
export function HostView({ place }: { readonly place: Place }): ReactNode {
  return (
    <ErrorBoundary of={pathOfPlace(place)} onFailure={() => {}}>
      {viewOf(place)}
    </ErrorBoundary>
  )
}

function viewOf(place: Place): ReactNode {
  const query = place.query ?? {}
  switch (place.view) {
    case 'fleet':
      return <FleetPage query={query} />
    case 'rollout':
      return <RolloutPage rollout={place.key} query={query} />
    case 'node':
      return <NodePage rollout={place.key} node={place.node} />
    case 'policy':
      return <PolicyPage rollout={place.key} />
    case 'record':
      return <RecordPage query={query} />
    default:
      return <p>There is no such page here.</p>
  }
}
