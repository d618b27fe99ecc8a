import { describeThisCluster } from './this-cluster.ts'

describeThisCluster('controllers')
