import { expect } from 'vitest'
import { type BreachQuery, countDeletions, findBreaches } from '@tranche/recording'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

const query: BreachQuery = { daemonSet: stageKey.name, isOurs: (actor) => actor.startsWith('executor') }

/**
 * Holds everything that our executors deleted against G1 to G4 and G9.
 *
 * @param watchLagMs how late watches may have been: what others did since is not held against us @default 1000
 */
export function expectKept(stage: Stage, watchLagMs = 1000): void {
  const recording = stage.recording()
  expect(findBreaches(recording, { ...query, watchLagMs })).toEqual([])
  expect(countDeletions(recording, query), 'deletions of ours').toBeGreaterThan(0)
}

/** @returns how many deletions of our executors the server has accepted so far */
export function deletions(stage: Stage): number {
  return countDeletions(stage.recording(), query)
}
