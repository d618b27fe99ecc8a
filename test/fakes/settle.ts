import type { FakeCluster } from './fake-cluster.ts'

/** More rounds than any release on a fake cluster needs. A planner that repeats a write exceeds it. */
const ROUNDS_MAX = 400

/** Runs every program once, in turn. */
export function act(fake: FakeCluster): void {
  fake.passRollout()
  fake.passRelease()
  fake.passExecutor()
  fake.actNatively()
  fake.nowMs += 10
}

/**
 * Runs all programs in turn and advances the clock, until no program writes any more.
 *
 * @param each called after every round
 * @throws if it does not become quiet
 */
export function settle(fake: FakeCluster, each: () => void = () => {}): void {
  let quiet = 0
  for (let round = 0; quiet < 8; round++) {
    if (round > ROUNDS_MAX)
      throw new Error(`not quiet after ${ROUNDS_MAX} rounds: ${JSON.stringify([fake.rollout?.status, fake.release?.status])}`)
    const wrote = [fake.passRollout(), fake.passRelease(), fake.passExecutor()].includes(true)
    fake.actNatively()
    fake.nowMs += wrote ? 10 : 5_000
    quiet = wrote ? 0 : quiet + 1
    each()
  }
}

/** Applies templates, each of which the DaemonSet controller observes before the next, and which no pass of Tranche reads. */
export function applyUnread(fake: FakeCluster, ...images: readonly string[]): void {
  for (const image of images) {
    fake.setImage(image)
    fake.actNatively()
  }
}
