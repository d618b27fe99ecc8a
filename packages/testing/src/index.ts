export { aNode, type NodeFields } from './build-node.ts'
export { aPod, DAEMON_SET_UID, type PodFields } from './build-pod.ts'
export { aPermit, aRecord } from './build-record.ts'
export { type GeneratedCluster, generatedClusters, type SeenPod } from './generated-cluster.ts'
