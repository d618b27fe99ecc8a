import type { RecordedAction } from '@tranche/api-schema'
import { isAlreadyExists, resourcePaths } from '@tranche/kube-client'
import { type KubeObject, sha256Hex } from '@tranche/kube-types'
import type { WishTarget } from '@tranche/wishes'
import type { SteeringPorts } from './wish-order.ts'

/** An event is a courtesy: nobody waits longer for it. */
const DEADLINE_MS = 3_000

const apiVersions = { Rollout: 'rollouts.kruise.io/v1beta1', DaemonSet: 'apps/v1' } as const satisfies Record<WishTarget, string>

/**
 * Says in an event of the object who has wished for what, and why; of one wish once, whoever tells of it. Never rejects: the record on
 * the object is what counts.
 */
export async function recordEvent(
  { client, clock, log, component }: SteeringPorts,
  kind: WishTarget,
  { metadata }: KubeObject,
  record: RecordedAction,
): Promise<void> {
  const at = new Date(clock.nowMs()).toISOString()
  const { name, namespace = '', uid } = metadata
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: eventName(name, sha256Hex(`${uid} ${record.id}`).slice(0, 16)), namespace },
    involvedObject: { apiVersion: apiVersions[kind], kind, name, namespace, uid },
    type: 'Normal',
    reason: 'WishRecorded',
    message: eventText(record),
    source: { component },
    reportingComponent: component,
    reportingInstance: component,
    count: 1,
    firstTimestamp: at,
    lastTimestamp: at,
  }
  try {
    await client.create(resourcePaths.events, event, { deadlineMs: DEADLINE_MS })
  } catch (error) {
    if (isAlreadyExists(error)) return
    log.warn({ namespace, name, err: error }, 'could not write the event of a wish')
  }
}

/** Longest name of an object. @see DNS-1123 subdomain */
const LONGEST_NAME = 253

/** The name of the object as far as there is room for it, a dot, and what tells events of one object apart. */
function eventName(name: string, id: string): string {
  return `${name.slice(0, LONGEST_NAME - id.length - 1).replace(/[.-]+$/, '')}.${id}`
}

const LONGEST_MESSAGE = 1_000

function eventText({ id, type, by, via, reason }: RecordedAction): string {
  const text = `${type} (id ${id}) by ${by}, by way of ${via}${reason === undefined || reason === '' ? '' : `: ${reason}`}`
  return text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}…`
}
