export { type DashboardPorts, PortsProvider } from './ports/dashboard-ports.ts'
export type { Place } from './ports/place.ts'
export { FleetView } from './views/fleet/fleet-view.tsx'
export { RolloutView } from './views/rollout/rollout-view.tsx'
