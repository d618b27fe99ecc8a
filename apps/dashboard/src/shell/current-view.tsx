import { type ComponentType, lazy, type ReactNode, Suspense } from 'react'
import { ErrorBoundary } from '../parts/error-boundary.tsx'
import { PlaceLink } from '../parts/place-link.tsx'
import { pathOf, type Place } from '../ports/place.ts'
import { FleetView } from '../views/fleet/fleet-view.tsx'

const RolloutView = loadedLater(async () => (await import('../views/rollout/rollout-view.tsx')).RolloutView)
const NodeDetailView = loadedLater(async () => (await import('../views/node/node-detail-view.tsx')).NodeDetailView)
const PlanView = loadedLater(async () => (await import('../views/plan/plan-view.tsx')).PlanView)
const PolicyRulesView = loadedLater(async () => (await import('../views/policy/policy-rules-view.tsx')).PolicyRulesView)
const RecordView = loadedLater(async () => (await import('../views/record/record-view.tsx')).RecordView)

/** The view of a place. Only the fleet is loaded at once; the others are loaded when they are first shown. */
export function CurrentView({ place }: { readonly place: Place }): ReactNode {
  return (
    <ErrorBoundary of={pathOf(place)} onFailure={renewViews}>
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
      return <FleetView query={place.query ?? {}} />
    case 'rollout':
      return <RolloutView rollout={place.key} query={place.query ?? {}} />
    case 'node':
      return <NodeDetailView rollout={place.key} node={place.node} />
    case 'plan':
      return <PlanView rollout={place.key} query={place.query ?? {}} />
    case 'policy':
      return <PolicyRulesView rollout={place.key} />
    case 'record':
      return <RecordView query={place.query ?? {}} />
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

/** Renews the views whose files could not be loaded. */
const renewals = new Set<() => void>()

/** Loads the files again when the view is next shown. */
function renewViews(): void {
  for (const renew of renewals) renew()
  renewals.clear()
}

/** A view that is loaded when it is first shown. React keeps a failure for good, so after one {@link renewViews} is due. */
function loadedLater<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  const attempt = (): ComponentType<P> =>
    lazy(async () => {
      try {
        return { default: await load() }
      } catch (error) {
        renewals.add(() => {
          View = attempt()
        })
        throw error
      }
    }) as ComponentType<P>
  let View = attempt()
  return function LoadedLater(props: P): ReactNode {
    return <View {...props} />
  }
}
