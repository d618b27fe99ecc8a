import type { ClusterHarness } from './harness.ts'

/** What a cluster may need for anything the suite waits for, in milliseconds. */
const DEADLINE_MS = 60_000

/**
 * Lets time pass in the cluster until `promise` settles.
 *
 * @param what completes "… did not come within"; a function is asked when it has not come
 * @throws {Error} when it has not settled after a minute of the cluster's clock
 */
export async function within<T>(cluster: ClusterHarness, what: string | (() => string), promise: Promise<T>): Promise<T> {
  let timer: { cancel(): void } | undefined
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = cluster.clock.setTimer(DEADLINE_MS, () =>
      reject(new Error(`${typeof what === 'string' ? what : what()} did not come within ${DEADLINE_MS / 1000} s`)),
    )
  })
  try {
    return await cluster.wait(Promise.race([promise, deadline]))
  } finally {
    timer?.cancel()
  }
}
