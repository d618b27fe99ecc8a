import type { EventReport, NodeEvent } from '@tranche/api-schema'
import type { ReactNode } from 'react'
import { eventKeys } from '../format/event-keys.ts'
import { momentText } from '../format/moment.ts'
import { Age } from './time.tsx'

/** Properties of {@link EventList}. */
interface EventListProps {
  readonly events: readonly (EventReport | NodeEvent)[]
}

/** Kubernetes events, each with its age, reason, message and object. */
export function EventList({ events }: EventListProps): ReactNode {
  const keys = eventKeys(events)
  return (
    <ol className="events">
      {events.map((event, at) => (
        <EventItem key={keys[at]} event={event} />
      ))}
    </ol>
  )
}

function EventItem({ event }: { readonly event: EventReport & Pick<NodeEvent, 'firstAt' | 'source'> }): ReactNode {
  const { at, type, reason, object, message, count = 1, firstAt, source } = event
  return (
    <li className={type === 'Warning' ? 'tone-wait' : undefined}>
      <span className="event-age">
        <Age at={at} />
      </span>
      <strong>
        {type === 'Warning' ? '!\u00a0' : ''}
        <bdi>{reason}</bdi>
      </strong>
      <span className="prose">
        <bdi>{message}</bdi>
        {count < 2 ? '' : ` (${count} times${firstAt === undefined ? '' : ` since ${momentText(firstAt)}`})`}
      </span>
      <span className="quiet event-object">
        <bdi>{object}</bdi>
        {source === undefined ? null : (
          <>
            {' '}
            by <bdi>{source}</bdi>
          </>
        )}
      </span>
    </li>
  )
}
