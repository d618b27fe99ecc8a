import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { describeBudgets } from './describe-budgets.ts'
import { describeCollection } from './describe-collection.ts'
import { describeDaemonSets } from './describe-daemon-sets.ts'
import { describeForeignOwners } from './describe-foreign-owners.ts'

/** Controllers: DaemonSets, garbage collection, budgets, quotas, namespaces. Needs three nodes on which pods start and stop. */
export function describeControllers(it: ConformanceTest): void {
  describeDaemonSets(it)
  describeForeignOwners(it)
  describeCollection(it)
  describeBudgets(it)
}
