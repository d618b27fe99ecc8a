import { NODE_EVENTS_MAX, type NodeEvent } from '@tranche/api-schema'
import { type CallOptions, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { cutReason, newestFirst, type SeenEvent, toBoundedReport } from './seen-event.ts'

/** A pod or a node that events are about. */
export interface EventObject {
  readonly kind: 'Pod' | 'Node'
  /** Namespace of the events: that of the pod; of a node `default`. */
  readonly namespace: string
  readonly name: string
  /** Undefined for a node that no longer exists. */
  readonly uid: string | undefined
}

/** Event with the version of its object. @see newestFirst */
export interface StampedNodeEvent {
  readonly report: NodeEvent
  readonly resourceVersion: string
}

/** Namespace of the events about objects without a namespace. */
const NODE_NAMESPACE = 'default'

/** @returns a node as the object of events */
export function nodeObject(name: string, uid: string | undefined): EventObject {
  return { kind: 'Node', namespace: NODE_NAMESPACE, name, uid }
}

/**
 * Reads the events about one pod or node. Holds at most {@link NODE_EVENTS_MAX} of them at a time, each of bounded size. Rejects as
 * {@link KubeClient} does.
 *
 * @returns the newest events, newest first
 */
export async function readObjectEvents(
  { client }: { readonly client: KubeClient },
  object: EventObject,
  options: CallOptions = {},
): Promise<readonly StampedNodeEvent[]> {
  const { namespace } = object
  let newest: readonly StampedNodeEvent[] = []
  const transform = (event: KubeObject): null => {
    if (isAbout(event as SeenEvent, object)) newest = withNewest(newest, stamped(event as SeenEvent))
    return null
  }
  await client.list(resourcePaths.events, { ...options, namespace, fieldSelector: selectorOf(object), transform })
  return newest
}

function selectorOf({ kind, name, uid }: EventObject): string {
  return kind === 'Pod' ? `involvedObject.uid=${uid ?? ''}` : `involvedObject.kind=Node,involvedObject.name=${name}`
}

/** The kubelet writes the name of its node as the uid of its events; controllers write the uid. */
function isAbout({ involvedObject = {} }: SeenEvent, { kind, name, uid }: EventObject): boolean {
  if (involvedObject.kind !== kind || involvedObject.name !== name) return false
  return (uid !== undefined && involvedObject.uid === uid) || (kind === 'Node' && involvedObject.uid === name)
}

function withNewest(kept: readonly StampedNodeEvent[], next: StampedNodeEvent): readonly StampedNodeEvent[] {
  const at = kept.findIndex((one) => newestFirst(next, one) < 0)
  if (at === -1 && kept.length === NODE_EVENTS_MAX) return kept
  return kept.toSpliced(at === -1 ? kept.length : at, 0, next).slice(0, NODE_EVENTS_MAX)
}

function stamped(event: SeenEvent): StampedNodeEvent {
  const firstAt = event.firstTimestamp ?? event.eventTime
  const source = event.source?.component || event.reportingComponent
  return {
    resourceVersion: event.metadata.resourceVersion,
    report: { ...toBoundedReport(event), ...(firstAt && { firstAt }), ...(source && { source: cutReason(source) }) },
  }
}
