import type { Breach, RecordedGuarantee } from './breach.ts'
import { countDeletions as countAll, judge } from './judge.ts'
import type { RecordedWrite } from './recorded-write.ts'

/** Which deletions to judge, and how. */
export interface BreachQuery {
  readonly daemonSet: string
  /** @returns whether this actor's deletions of pods are ours */
  readonly isOurs: (actor: string) => boolean
  /**
   * How late watches may be, in milliseconds: what others did to nodes or pods since is not held against a deletion.
   * Infinity: others are not looked at. @default 1000
   */
  readonly watchLagMs?: number
}

const ofDeletions: readonly RecordedGuarantee[] = ['G1', 'G2', 'G3', 'G4', 'G9']

/**
 * Holds every deletion of ours that the server accepted against G1 to G4 and G9, without knowing what watches were sent.
 * @see judge
 *
 * @param writes all that was recorded, from before the Rollout was there
 */
export function findBreaches(writes: Iterable<RecordedWrite>, { daemonSet, ...query }: BreachQuery): readonly Breach[] {
  return judge({ writes: [...writes], deliveries: [] }, { ...query, daemonSet: { name: daemonSet }, guarantees: ofDeletions })
}

/** @returns how many deletions of ours the server accepted */
export function countDeletions(writes: Iterable<RecordedWrite>, { daemonSet, isOurs }: BreachQuery): number {
  return countAll({ writes: [...writes] }, { isOurs, daemonSet: { name: daemonSet } })
}
