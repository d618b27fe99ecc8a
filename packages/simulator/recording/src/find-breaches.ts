import type { Breach, RecordedGuarantee } from './judges/breach.ts'
import { countDeletions as countAll, judge } from './judge.ts'
import type { RecordedWrite } from './record/recorded-write.ts'

/** Which deletions to judge, and how. */
export interface BreachQuery {
  readonly daemonSet: string
  /** @returns whether this actor's deletions of pods are ours */
  readonly isOurs: (actor: string) => boolean
  /**
   * Delay of watches in milliseconds. Changes of nodes or pods by other clients within it do not count against a deletion; with Infinity,
   * no such change counts.
   * @default 1000
   */
  readonly watchLagMs?: number
}

const ofDeletions: readonly RecordedGuarantee[] = ['G1', 'G2', 'G3', 'G4', 'G9']

/**
 * Checks each of our accepted deletions against G1 to G4 and G9, without recorded deliveries.
 * @see judge
 *
 * @param writes the whole recording, from before the Rollout was created
 */
export function findBreaches(writes: Iterable<RecordedWrite>, { daemonSet, ...query }: BreachQuery): readonly Breach[] {
  return judge({ writes: [...writes], deliveries: [] }, { ...query, daemonSet: { name: daemonSet }, guarantees: ofDeletions })
}

/** @returns number of our deletions that the server accepted */
export function countDeletions(writes: Iterable<RecordedWrite>, { daemonSet, isOurs }: BreachQuery): number {
  return countAll({ writes: [...writes] }, { isOurs, daemonSet: { name: daemonSet } })
}
