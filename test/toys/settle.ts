import type { ToyCluster } from './toy-cluster.ts'

/** More rounds than any release on a toy needs; a planner that writes the same again and again runs into it. */
const ROUNDS_MAX = 400

/** Lets everybody act once, in turn. */
export function act(toy: ToyCluster): void {
  toy.passRollout()
  toy.passRelease()
  toy.passExecutor()
  toy.actNatively()
  toy.nowMs += 10
}

/**
 * Lets everybody act, in turn and then by the clock, until nobody writes any more.
 *
 * @param each called after every round
 * @throws when it does not become quiet
 */
export function settle(toy: ToyCluster, each: () => void = () => {}): void {
  let quiet = 0
  for (let round = 0; quiet < 8; round++) {
    if (round > ROUNDS_MAX)
      throw new Error(`not quiet after ${ROUNDS_MAX} rounds: ${JSON.stringify([toy.rollout?.status, toy.release?.status])}`)
    const wrote = [toy.passRollout(), toy.passRelease(), toy.passExecutor()].includes(true)
    toy.actNatively()
    toy.nowMs += wrote ? 10 : 5_000
    quiet = wrote ? 0 : quiet + 1
    each()
  }
}
