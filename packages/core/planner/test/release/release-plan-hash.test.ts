import type { ReleasePlan } from '@tranche/api-schema'
import { expect, it } from 'vitest'
import { releasePlanHash } from '../../src/release/view/release-plan-hash.ts'

// Computed by a program in Go with OpenKruise's types.
it.each<[ReleasePlan, string]>([
  [
    {
      enableExtraWorkloadForCanary: false,
      rollingStyle: 'Partition',
      finalizingPolicy: 'WaitResume',
      failureThreshold: '10%',
      rolloutID: 'abc',
      batchPartition: 0,
      batches: [{ canaryReplicas: '20%' }, { canaryReplicas: 5 }],
    },
    '896e7f55cbff00f27d7f2add3d13ec3c519082b2599dd9dc3bcc8fecb46c09fd',
  ],
  [
    {
      batches: [{ canaryReplicas: '100%' }],
      rolloutID: 'a<b',
      finalizingPolicy: 'WaitResume',
      rollingStyle: 'Partition',
      enableExtraWorkloadForCanary: false,
    },
    'b9c1241da28814206728d999ee88f9e3b7ed57e9583f61bbb013892475861bd5',
  ],
  [{ enableExtraWorkloadForCanary: false, rolloutID: '' }, '3302e7186e7e06d28705388a4a1b1aff81bfff01b535eb1515c0420e893613d8'],
])('hashes the plan %j as OpenKruise does, whatever the order of its members', (plan, hash) => {
  expect(releasePlanHash(plan)).toBe(hash)
})
