import { useQuery } from '@tanstack/react-query'
import type { ApiKey } from '@tranche/api-client'
import { NODE_EVENTS_MAX } from '@tranche/api-schema'
import { isAppError } from '@tranche/errors'
import type { ReactNode } from 'react'
import { EventList } from '../../parts/event-list.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { usePorts } from '../../ports/dashboard-ports.ts'
import { queryKeyOf } from '../../ports/renew-when-changed.ts'
import { omissionText } from './node-texts.ts'

/** Time after which the events are read again, in milliseconds: most events change no Rollout. */
const AGAIN_MS = 10_000

/** Properties of {@link NodeEventsSection}. */
interface NodeEventsSectionProps {
  readonly rollout: ApiKey
  /** Name of the node. */
  readonly name: string
}

/** Kubernetes events about a node and its pod, newest first, as far as the user may list them. */
export function NodeEventsSection({ rollout, name }: NodeEventsSectionProps): ReactNode {
  const { api } = usePorts()
  const { data, error, refetch } = useQuery({
    queryKey: [...queryKeyOf(rollout), 'node-events', name],
    queryFn: ({ signal }) => api.nodeEvents(rollout, name, { signal }),
    refetchInterval: AGAIN_MS,
  })
  // The explanation says it already.
  if (isAppError(error) && error.code === 'NODE_NOT_FOUND') return null
  return (
    <section aria-labelledby="events-title">
      <h2 id="events-title">Events</h2>
      {error === null ? null : <ProblemNote error={error} retry={() => void refetch()} />}
      {data === undefined && error === null ? <p role="status">Reading the events…</p> : null}
      {data?.omitted.map((omission) => (
        <p key={omission.of} className="quiet prose">
          {omissionText(omission)}
        </p>
      ))}
      {data?.items.length === 0 && data.omitted.length < 2 ? (
        <p className="quiet">No event within the last hour, which is how long most clusters keep them.</p>
      ) : null}
      {data === undefined ? null : <EventList events={data.items} />}
      {data?.items.length === NODE_EVENTS_MAX ? <p className="quiet">These are the newest {NODE_EVENTS_MAX}.</p> : null}
    </section>
  )
}
