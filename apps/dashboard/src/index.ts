export { type DashboardPorts, PortsProvider } from './ports/dashboard-ports.ts'
export type { Place } from './ports/place.ts'
export { FleetPage } from './pages/fleet/fleet-page.tsx'
export { RolloutPage } from './pages/rollout/rollout-page.tsx'
