import type { FlightRecord, Permit } from '@tranche/api-schema'
import type { Pod } from '@tranche/kube-types'
import { DAEMON_SET_UID, nodeOfPod } from './build-pod.ts'

/** Builds an open record that releases revision `new` to every node, one at a time. A partition makes the batch smaller. */
export function aRecord(fields: Partial<FlightRecord> = {}): FlightRecord {
  return {
    workloadUid: DAEMON_SET_UID,
    epoch: 3,
    seq: 7,
    state: 'open',
    holds: [],
    generation: 2,
    revision: 'new',
    size: 1_000,
    partition: 0,
    limit: 1,
    watermark: '1',
    permits: [],
    ...fields,
  }
}

/** Builds the permit for the current version of a pod. */
export function aPermit(pod: Pod): Permit {
  return { node: nodeOfPod(pod), podUid: pod.metadata.uid, podResourceVersion: pod.metadata.resourceVersion }
}
