import { isDaemonSetRef, isSameWorkload, problemText, conflictingRollouts, validateBinding } from '@tranche/validation'
import { describe, expect, it } from 'vitest'
import { type Changes, rolloutWith } from './rollouts.ts'

const early = '2026-01-01T00:00:00Z'
const late = '2026-01-02T00:00:00Z'
const rollout = rolloutWith({ metadata: { name: 'b', creationTimestamp: late } })

describe('the same workload', () => {
  it.each([
    ['another version of the group is the same', 'apps/v1beta1', 'DaemonSet', true],
    ['another group is another workload', 'apps.kruise.io/v1', 'DaemonSet', false],
    ['another kind is another workload', 'apps/v1', 'Deployment', false],
  ])('%s', (_, apiVersion, kind, same) => {
    const ref = { apiVersion, kind, name: 'node-agent' }
    expect(isSameWorkload(ref, rollout.spec.workloadRef)).toBe(same)
    expect(isDaemonSetRef(ref)).toBe(same)
  })
})

describe('a conflicting Rollout', () => {
  it.each<[string, Changes, number]>([
    ['is another Rollout on the same workload', { metadata: { name: 'a' } }, 1],
    ['is not the Rollout itself', { metadata: { name: 'b' } }, 0],
    ['is not in another namespace', { metadata: { name: 'a', namespace: 'other' } }, 0],
    ['is not disabled', { metadata: { name: 'a' }, spec: { disabled: true } }, 0],
    ['is not being deleted', { metadata: { name: 'a', deletionTimestamp: late } }, 0],
    ['is not on another workload', { metadata: { name: 'a' }, spec: { workloadRef: { ...rollout.spec.workloadRef, name: 'x' } } }, 0],
  ])('%s', (_, changes, count) => {
    expect(conflictingRollouts(rollout, [rolloutWith(changes)])).toHaveLength(count)
  })
})

describe('of two Rollouts on one workload', () => {
  it.each<[string, string, string | undefined, string | null, boolean]>([
    ['the older one holds it', 'z', early, null, true],
    ['of one age the first name holds it', 'a', late, null, true],
    ['the younger one waits', 'a', '2026-01-03T00:00:00Z', null, false],
    ['the one that the workload is bound to holds it, however young', 'z', early, 'b', false],
    ['the bound one holds it against an older one', 'a', '2026-01-03T00:00:00Z', 'a', true],
  ])('%s', (_, name, creationTimestamp, boundTo, taken) => {
    const other = rolloutWith({ metadata: { name, ...(creationTimestamp && { creationTimestamp }) } })
    const problems = validateBinding(rollout, [rollout, other], boundTo)
    expect(problems.map(problemText)).toEqual(
      taken
        ? [`spec.workloadRef.name is "node-agent": the Rollout ${name} already releases this DaemonSet; delete or disable one of the two`]
        : [],
    )
    expect(validateBinding(other, [rollout, other], boundTo)).toHaveLength(taken ? 0 : 1)
  })
})
