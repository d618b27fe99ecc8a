import type { RecordedAction } from '@tranche/api-schema'
import { isAlreadyExists, resourcePaths } from '@tranche/kube-client'
import { type KubeObject, sha256Hex } from '@tranche/kube-types'
import type { ActionTarget } from '@tranche/actions'
import type { ReleaseClientPorts } from './action-order.ts'

/** An event is a courtesy: nobody waits longer for it. */
const DEADLINE_MS = 3_000

const apiVersions = { Rollout: 'rollouts.kruise.io/v1beta1', DaemonSet: 'apps/v1' } as const satisfies Record<ActionTarget, string>

/**
 * Records an event on the object: who has asked for which action, and why; one event for each action, whatever process writes it. Never
 * rejects: the record on the object counts.
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
    log.warn({ namespace, name, err: error }, 'could not write the event of an action')
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
