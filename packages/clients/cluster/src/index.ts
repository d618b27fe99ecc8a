export { type ReflectionOptions, type SharedReflection, shareReflection } from './cluster-reflection.ts'
export { traceWrites } from './trace-writes.ts'
export { isSameButForCounts } from './is-same-but-for-counts.ts'
export { keptNode } from './kept-node.ts'
export { createNewest, type Newest } from './newest.ts'
export {
  PEER_LEASE_NAME,
  PEER_WEBHOOKS_NAME,
  peerNamespace,
  type PeerSighting,
  type PeerWatch,
  type PeerWatchOptions,
  type PeerWebhooks,
  watchPeer,
} from './peer-watch.ts'
export { readNode } from './read-node.ts'
export { readPod } from './read-pod.ts'
export { readSchemaGap } from './read-schema-gap.ts'
export { createTouchValues, touchPod, type TouchTarget } from './touch-pod.ts'
export { ownedRevisions, type OwnWrite, watchCluster, type WatchedCluster, type WatchedClusterOptions } from './watched-cluster.ts'
export { writeRecord } from './write-record.ts'
