import { metricCatalog } from '@tranche/metrics'
import { expect, it } from 'vitest'
import { laneNames } from '../src/term.ts'

it('every reconciler is counted under its own name', () => {
  const names: readonly string[] = Object.values(laneNames)
  const { queue } = metricCatalog.tranche_queue_keys.labels
  const { controller } = metricCatalog.tranche_passes_total.labels
  expect(queue.filter((name) => name !== 'jobs')).toEqual(names)
  expect(controller.filter((name) => name !== 'partition-executor')).toEqual(names)
})
