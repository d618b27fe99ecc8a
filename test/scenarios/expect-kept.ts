import { expect } from 'vitest'
import { type Breach, type BreachQuery, countDeletions, judge, type JudgeQuery } from '@tranche/recording'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

const query: BreachQuery = { daemonSet: stageKey.name, isOurs: (actor) => actor.startsWith('executor') }

/** What a story knows beside its recording. */
type Circumstances = Pick<JudgeQuery, 'stalls' | 'quiescentFromMs' | 'guarantees'>

/** Holds everything that was recorded against the guarantees, and what was deleted against what its watches had been sent. */
export function expectKept(stage: Stage, circumstances: Circumstances = {}): void {
  expect(breaches(stage, circumstances)).toEqual([])
  expect(deletions(stage), 'deletions of ours').toBeGreaterThan(0)
}

/** @returns everything of ours that a guarantee forbids */
function breaches(stage: Stage, circumstances: Circumstances = {}): readonly Breach[] {
  const isOurs = (actor: string): boolean => /^(controller|executor)-/.test(actor)
  return judge(stage.recordingWithDeliveries(), { isOurs, ...circumstances })
}

/** @returns how many deletions of our executors the server has accepted so far */
export function deletions(stage: Stage): number {
  return countDeletions(stage.recording(), query)
}
