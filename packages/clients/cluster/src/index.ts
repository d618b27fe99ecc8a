export { type ClusterCacheOptions, type SharedClusterCache, createSharedClusterCache } from './cache/cluster-cache.ts'
export { traceWrites } from './trace-writes.ts'
export { isSameButForCounts } from './is-same-but-for-counts.ts'
export { keptNode } from './cache/kept-node.ts'
export { type CordonedNode, cordonedNodes, leftConditions } from './cache/cordoned-nodes.ts'
export { cordonNode, type CordonResult, type NodeToCordon, type SettledPermits, uncordonNode } from './cordons.ts'
export { removeLeftCondition } from './drain-conditions.ts'
export type { DrainEnd, DrainRest } from './drain-memory.ts'
export { createNodeDrainer, type DrainConditions, type DrainReading, type NodeDrainer, type NodeToDrain } from './drain-node.ts'
export { createOverlayStore, type OverlayStore } from './overlay-store.ts'
export {
  KRUISE_LEASE_NAME,
  KRUISE_WEBHOOKS_NAME,
  kruiseNamespace,
  type KruiseLeaseActivity,
  type KruiseWatch,
  type KruiseWatchOptions,
  type KruiseWebhooks,
  watchKruise,
} from './cache/kruise-watch.ts'
export { type HelperCreation, type HelperPods, type HelperPodsOptions, watchHelperPods } from './helper-pods.ts'
export type { LeaseWatchOptions, LeaseWrite } from './leases/lease-writes.ts'
export { type NodeLocks, watchNodeLocks } from './leases/node-locks.ts'
export { type DowntimeWrite, type NodeDowntimes, watchNodeDowntimes } from './leases/node-downtimes.ts'
export { readNodes } from './read-node.ts'
export { readPod } from './read-pod.ts'
export { createRoomReader, type RoomReader } from './read-room.ts'
export { daemonSetsBoundTo, releasesOfWorkload, rolloutsOfWorkload } from './cache/named-workload.ts'
export { type GroupReference, releasesOfGroup } from './cache/releases-of-group.ts'
export { readSchemaGap } from './read-schema-gap.ts'
export { createTouchValues, touchPod, type TouchTarget } from './touch-pod.ts'
export { ownedRevisions, type OwnWrite, watchCluster, type WatchedCluster, type WatchedClusterOptions } from './watched-cluster.ts'
export { writeRecord } from './write-record.ts'
