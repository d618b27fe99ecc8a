import { readFileSync } from 'node:fs'
import { type Rollout, rolloutSchema } from '@tranche/api-schema'
import type { DaemonSet } from '@tranche/kube-types'
import { adviseRollout, checkRollout, validateDaemonSetBudget, validateRollout } from '@tranche/validation'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

it('examples/rollout.yaml is accepted and needs no advice', () => {
  const rollout = read('rollout.yaml') as Rollout
  expect(rolloutSchema.parse(rollout)).toEqual(rollout)
  expect(checkRollout(rollout, { desired: 30, workloadExists: true })).toEqual({ problems: [], advice: [], object: rollout })
  expect([...validateRollout(rollout, { desired: 30 }), ...adviseRollout(rollout)]).toEqual([])
})

it('examples/daemonset.yaml is named by the Rollout and leaves a budget', () => {
  const daemonSet = read('daemonset.yaml') as DaemonSet
  expect((read('rollout.yaml') as Rollout).spec.workloadRef.name).toBe(daemonSet.metadata.name)
  expect(validateDaemonSetBudget(daemonSet, 30)).toEqual([])
})

function read(file: string): unknown {
  return parse(readFileSync(`${import.meta.dirname}/../../../../examples/${file}`, 'utf8'))
}
