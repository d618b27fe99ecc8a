import { describeThisCluster } from './this-cluster.ts'

describeThisCluster('requests')
