import { useQuery } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import { isAppError } from '@tranche/errors'
import type { ReactNode } from 'react'
import { EventList } from '../../parts/event-list.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../ports/renew-when-changed.ts'

/** Maximum number of shown events; the API server keeps them for an hour. */
const MOST_EVENTS = 50

/** Kubernetes events about a Rollout, newest first. */
export function EventsSection({ rollout }: { readonly rollout: ApiKey }): ReactNode {
  const { api } = usePorts()
  const { data, error, refetch } = useQuery({
    queryKey: [...queryKeyOf(rollout), 'events'],
    queryFn: ({ signal }) => api.events(rollout, { signal }),
  })
  return (
    <section aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      {error === null ? null : isAppError(error) && error.code === 'ACCESS_DENIED' ? (
        <p className="quiet prose">{error.message}</p>
      ) : (
        <ProblemNote error={error} retry={() => void refetch()} />
      )}
      {data?.length === 0 ? <p className="quiet">No event within the last hour.</p> : null}
      {data === undefined ? null : <EventList events={data.slice(0, MOST_EVENTS)} />}
    </section>
  )
}
