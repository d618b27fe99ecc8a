import type { RecordedAction } from '@tranche/api-schema'
import { isAlreadyExists, resourcePaths } from '@tranche/kube-client'
import { type KubeObject, sha256Hex, clipText } from '@tranche/kube-types'
import type { ActionTarget } from '@tranche/actions'
import type { ReleaseClientPorts } from './action-order.ts'

/** Deadline in milliseconds; short, because nothing should wait for an event. */
const DEADLINE_MS = 3_000

const apiVersions = { Rollout: 'rollouts.kruise.io/v1beta1', DaemonSet: 'apps/v1' } as const satisfies Record<ActionTarget, string>

/**
 * Records an event on the object: the user, the requested action, and the reason. Every process writes the same single event per action.
 * Never rejects: the record on the object is authoritative.
 */
export async function recordEvent(
  { client, clock, log, component }: ReleaseClientPorts,
  kind: ActionTarget,
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
    reason: 'ActionRequested',
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
    log.warn({ namespace, name, err: error }, 'could not write event for action')
  }
}

/** Maximum length of an object's name. @see DNS-1123 subdomain */
const LONGEST_NAME = 253

/** Name of an event: the object's name, truncated if needed, a dot, and a part that distinguishes events of one object. */
function eventName(name: string, id: string): string {
  return `${name.slice(0, LONGEST_NAME - id.length - 1).replace(/[.-]+$/, '')}.${id}`
}

const LONGEST_MESSAGE = 1_000

function eventText({ id, type, by, via, reason }: RecordedAction): string {
  const text = `${type} (id ${id}) by ${by} via ${via}${reason === undefined || reason === '' ? '' : `: ${reason}`}`
  return clipText(text, LONGEST_MESSAGE)
}
