import { afterAll, beforeAll, describe } from 'vitest'
import { describeControllers } from './controllers/describe-controllers.ts'
import { type ConformanceTest, conformanceTest, whenNamespacesAreGone } from './fixtures/fixtures.ts'
import type { ClusterHarness } from './fixtures/harness.ts'
import { describeRequests } from './requests/describe-requests.ts'
import { describeWatches } from './watches/describe-watches.ts'

/** A test may wait for several things, each with a deadline that names it: this one names nothing. */
const TEST_MS = 180_000

/** A level of the suite. */
export type Level = 'requests' | 'watches' | 'controllers'

const levels: Readonly<Record<Level, (it: ConformanceTest) => void>> = {
  requests: describeRequests,
  watches: describeWatches,
  controllers: describeControllers,
}

/**
 * Behavior of a Kubernetes cluster, as tests over the wire, for one cluster. Registers a `describe` block with vitest. It works in
 * namespaces of its own, named after the harness's `run`, and removes all it has made.
 *
 * @param name the cluster
 * @param createHarness opens the cluster once for all tests
 * @param chosen the levels to test @default all
 */
export function describeCluster(
  name: string,
  createHarness: () => Promise<ClusterHarness>,
  chosen: readonly Level[] = ['requests', 'watches', 'controllers'],
): void {
  describe(`${name} is a Kubernetes cluster`, { timeout: TEST_MS }, () => {
    let cluster: ClusterHarness
    beforeAll(async () => void (cluster = await createHarness()))
    afterAll(async () => {
      await whenNamespacesAreGone(cluster)
      await cluster.dispose()
    }, 120_000)
    const it = conformanceTest(() => cluster)
    for (const level of chosen) describe(level, () => levels[level](it))
  })
}
