import { expect } from 'vitest'
import { type Breach, type BreachQuery, countDeletions, findBreaches } from '@tranche/recording'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

const query: BreachQuery = { daemonSet: stageKey.name, isOurs: (actor) => actor.startsWith('executor') }

/**
 * Holds everything that our executors deleted against G1 to G4 and G9.
 *
 * @param watchLagMs how late watches may have been: what others did since is not held against us @default 1000
 */
export function expectKept(stage: Stage, watchLagMs = 1000): void {
  expect(breaches(stage, watchLagMs)).toEqual([])
  expect(deletions(stage), 'deletions of ours').toBeGreaterThan(0)
}

/** @returns every deletion of our executors that a guarantee forbids */
export function breaches(stage: Stage, watchLagMs = 1000): readonly Breach[] {
  return findBreaches(stage.recording(), { ...query, watchLagMs })
}

/** @returns how many deletions of our executors the server has accepted so far */
export function deletions(stage: Stage): number {
  return countDeletions(stage.recording(), query)
}
