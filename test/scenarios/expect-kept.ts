import { expect } from 'vitest'
import { type Breach, type BreachQuery, countDeletions, judge, type JudgeQuery } from '@tranche/recording'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

const query: BreachQuery = { daemonSet: stageKey.name, isOurs: (actor) => actor.startsWith('executor') }

/** Facts about a story that its recording does not contain. */
type Circumstances = Pick<JudgeQuery, 'stalls' | 'quiescentFromMs' | 'guarantees' | 'sharedGroupNamespaces'>

/** Judges the whole recording by the guarantees, and Tranche's deletions by the events that its watches had received. */
export function expectKept(stage: Stage, circumstances: Circumstances = {}): void {
  expect(breaches(stage, circumstances)).toEqual([])
  expect(deletions(stage), 'deletions by Tranche').toBeGreaterThan(0)
}

/** @returns everything that Tranche did against a guarantee */
function breaches(stage: Stage, circumstances: Circumstances = {}): readonly Breach[] {
  const isOurs = (actor: string): boolean => /^(controller|executor)-/.test(actor)
  return judge(stage.recordingWithDeliveries(), { isOurs, ...circumstances })
}

/** @returns number of the executors' deletions that the server has accepted so far */
export function deletions(stage: Stage): number {
  return countDeletions(stage.recording(), query)
}
