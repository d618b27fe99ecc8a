import type { ApiObject } from '../../model/client.ts'
import { text } from './cells.ts'
import { age } from './human-duration.ts'
import { objectOrEmpty } from '../../model/json.ts'

/** @returns time since the event was first seen */
export function firstSeen(event: ApiObject, nowMs: number): string {
  return age(event['firstTimestamp'] ?? event['eventTime'], nowMs)
}

/** @returns time since the event was last seen, from the field that its reporter filled in */
export function lastSeen(event: ApiObject, nowMs: number): string {
  if (event['series'] !== undefined) return age(objectOrEmpty(event['series'])['lastObservedTime'], nowMs)
  return event['lastTimestamp'] === undefined ? firstSeen(event, nowMs) : age(event['lastTimestamp'], nowMs)
}

/** @returns number of occurrences of the event */
export function eventCount(event: ApiObject): number {
  return Number(objectOrEmpty(event['series'])['count'] ?? event['count'] ?? 0) || 1
}

/** @returns object of the event: `pod/agent-x1` */
export function involvedObject(event: ApiObject): string {
  const { kind, name } = objectOrEmpty(event['involvedObject'])
  return text(name) === '' ? text(kind).toLowerCase() : `${text(kind).toLowerCase()}/${text(name)}`
}

/** @returns component and host that reported the event */
export function eventSource(event: ApiObject): string {
  const source = objectOrEmpty(event['source'])
  const component = text(source['component']) || text(event['reportingComponent'])
  const instance = text(source['host']) || text(event['reportingInstance'])
  return instance === '' ? component : `${component}, ${instance}`
}
