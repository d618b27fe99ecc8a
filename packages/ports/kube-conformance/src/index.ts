export { describeCluster, type Level } from './describe-cluster.ts'
export type { ClusterHarness } from './fixtures/harness.ts'
