import type { ApiClient, ApiKey } from '@tranche/api-client'
import { createContext, useContext } from 'react'
import type { Place } from './place.ts'
import type { NodeStore } from '../live/node-store.ts'
import type { ReleaseStore } from '../live/release-store.ts'

/** Views and parts of views that a host may lack. */
export type HostPart = Place['view'] | 'events' | 'print'

/** Parts that a host cannot show, each with the reason as a sentence. */
export type MissingParts = Partial<Readonly<Record<HostPart, string>>>

/** Services that a view gets from the page around it; another host, such as a plugin, brings its own. */
export interface DashboardPorts {
  readonly api: ApiClient
  /** Current state of all visible Rollouts. */
  readonly releases: ReleaseStore
  /** Nodes of the Rollout that {@link DashboardPorts.showNodes} chose. */
  readonly nodes: NodeStore
  /** Chooses the Rollout whose nodes are followed; null: none. */
  readonly showNodes: (key: ApiKey | null) => void
  /** Time of the server, in epoch milliseconds: the clock of the browser may be wrong. */
  nowMs(): number
  /** @returns the URL of a place, for links */
  urlOf(place: Place): string
  /** @param how `replace`: without a new entry in the history of the browser, as while a user types. @default 'push' */
  go(place: Place, how?: 'push' | 'replace'): void
  /** Copies the address of a place. Rejects if the browser refuses. Absent in a host whose places have no address. */
  readonly copyLink?: (place: Place) => Promise<void>
  /** Present in a host that shows single pages of the dashboard inside its own: what is left out there. */
  readonly missing?: MissingParts
}

/** Context of {@link usePorts}; null outside a page. */
export const PortsContext = createContext<DashboardPorts | null>(null)

/** Provides {@link usePorts}. */
export const PortsProvider = PortsContext.Provider

/** @returns what the page around a view provides. @throws {Error} outside a {@link PortsProvider} */
export function usePorts(): DashboardPorts {
  const ports = useContext(PortsContext)
  if (ports === null) throw new Error('a view needs a PortsProvider around it')
  return ports
}

/** @returns parts that the host cannot show; none in the dashboard itself */
export function useMissing(): MissingParts {
  return usePorts().missing ?? NOTHING
}

const NOTHING: MissingParts = {}
