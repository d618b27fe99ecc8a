export { createNewest, type Newest } from './newest.ts'
export { touchPod, type TouchTarget } from './touch-pod.ts'
export { watchCluster, type WatchedCluster, type WatchedClusterOptions } from './watched-cluster.ts'
export { writeRecord } from './write-record.ts'
