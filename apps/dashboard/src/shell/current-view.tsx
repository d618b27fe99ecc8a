import { type ReactNode, Suspense } from 'react'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import { loadedLater, loadFailedAgain } from '../parts/loaded-later.tsx'
import { PlaceLink } from '../parts/place-link.tsx'
import { pathOfPlace, type Place } from '../ports/place.ts'
import { FleetPage } from '../pages/fleet/fleet-page.tsx'

const RolloutPage = loadedLater(async () => (await import('../pages/rollout/rollout-page.tsx')).RolloutPage)
const NodePage = loadedLater(async () => (await import('../pages/node/node-page.tsx')).NodePage)
const PlanPage = loadedLater(async () => (await import('../pages/plan/plan-page.tsx')).PlanPage)
const PolicyPage = loadedLater(async () => (await import('../pages/policy/policy-page.tsx')).PolicyPage)
const DoctorPage = loadedLater(async () => (await import('../pages/doctor/doctor-page.tsx')).DoctorPage)
const RecordPage = loadedLater(async () => (await import('../pages/record/record-page.tsx')).RecordPage)

/** The view of a place. Only the fleet is loaded at once; the others are loaded when they are first shown. */
export function CurrentView({ place }: { readonly place: Place }): ReactNode {
  return (
    <ErrorBoundary of={pathOfPlace(place)} onFailure={loadFailedAgain}>
      <Suspense
        fallback={
          <p className="page-note" role="status">
            Loading…
          </p>
        }
      >
        {viewOf(place)}
      </Suspense>
    </ErrorBoundary>
  )
}

function viewOf(place: Place): ReactNode {
  switch (place.view) {
    case 'fleet':
      return <FleetPage query={place.query ?? {}} />
    case 'rollout':
      return <RolloutPage rollout={place.key} query={place.query ?? {}} />
    case 'node':
      return <NodePage rollout={place.key} node={place.node} />
    case 'plan':
      return <PlanPage rollout={place.key} query={place.query ?? {}} />
    case 'policy':
      return <PolicyPage rollout={place.key} />
    case 'record':
      return <RecordPage query={place.query ?? {}} />
    case 'doctor':
      return <DoctorPage />
    default:
      return <Nowhere />
  }
}

function Nowhere(): ReactNode {
  return (
    <main id="main" className="empty">
      <h1>There is no such page</h1>
      <p>
        <PlaceLink to={{ view: 'fleet' }}>All rollouts</PlaceLink>
      </p>
    </main>
  )
}
