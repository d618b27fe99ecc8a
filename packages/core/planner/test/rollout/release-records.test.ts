import { RELEASES_MAX, type RolloutStatus } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

describe('the releases that a status records', () => {
  it('are absent before the first', () => {
    expect(atRest().rollout?.status?.releases).toBeUndefined()
  })

  it('start with a template, and end once it is on every node', () => {
    const fake = waiting()
    expect(fake.rollout?.status?.releases).toEqual([{ revision: 'hash-v2', startedAt: expect.any(String) }])
    promote(fake)
    expect(results(fake)).toEqual([['hash-v2', 'Completed']])
    const [{ startedAt, endedAt = '' } = { startedAt: '' }] = fake.rollout?.status?.releases ?? []
    expect(startedAt < endedAt).toBe(true)
  })

  it('are superseded by another template', () => {
    const fake = waiting()
    fake.setImage('v3')
    settle(fake)
    expect(results(fake)).toEqual([
      ['hash-v2', 'Superseded'],
      ['hash-v3', undefined],
    ])
  })

  it('are rolled back by an abort, and the rollback has no record', () => {
    const fake = waiting()
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect(fake.image()).toBe('v1')
    expect(results(fake)).toEqual([['hash-v2', 'RolledBack']])
  })

  it('have no record of a template that is blocked, until a retry releases it', () => {
    const fake = waiting()
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    expect(fake.rollout?.status?.conditions).toContainEqual(expect.objectContaining({ type: 'Stalled', reason: 'RevisionHeld' }))
    expect(results(fake)).toEqual([['hash-v2', 'RolledBack']])
    fake.setImage('v3')
    settle(fake)
    fake.setImage('v2')
    settle(fake)
    const soFar = [
      ['hash-v2', 'RolledBack'],
      ['hash-v3', 'Superseded'],
    ]
    expect(results(fake)).toEqual(soFar)
    fake.setImage('v1')
    settle(fake)
    expect(results(fake)).toEqual(soFar)
    fake.setImage('v2')
    settle(fake)
    fake.act({ id: 'r', type: 'retry', revision: 'hash-v2' })
    settle(fake)
    expect(results(fake)).toEqual([...soFar, ['hash-v2', undefined]])
  })

  it('are rolled back by the former template', () => {
    const fake = waiting()
    fake.setImage('v1')
    settle(fake)
    expect(results(fake)).toEqual([['hash-v2', 'RolledBack']])
  })

  it('have failed where another template comes after a failure, and record why', () => {
    const fake = waiting()
    fake.latch()
    settle(fake)
    const seen = fake.rollout?.status?.failure?.message
    expect(seen).toBeDefined()
    fake.setImage('v3')
    settle(fake)
    expect(fake.rollout?.status?.releases?.[0]).toMatchObject({ revision: 'hash-v2', result: 'Failed', failure: seen })
  })

  it('record no failure where the version reached every node', () => {
    const fake = waiting()
    fake.latch()
    settle(fake)
    expect(fake.rollout?.status?.releases).toMatchObject([{ revision: 'hash-v2', failure: expect.any(String) }])
    fake.act({ id: 'r', type: 'retry' })
    settle(fake)
    promote(fake)
    expect(fake.rollout?.status?.releases).toEqual([
      { revision: 'hash-v2', startedAt: expect.any(String), endedAt: expect.any(String), result: 'Completed' },
    ])
  })

  it.each([
    ['Complete', 'Completed'],
    ['Rollback', 'RolledBack'],
  ] as const)('end as tranche.dev/on-delete %s ends them before the Rollout is disabled', (policy, result) => {
    const fake = waiting()
    fake.onDelete(policy)
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    expect(fake.rollout?.status?.phase).toBe('Disabled')
    expect(results(fake)).toEqual([['hash-v2', result]])
  })

  it('record how many nodes failed in the end, not only the first', () => {
    const fake = waiting()
    fake.latch()
    settle(fake)
    const message = '3 of 5 nodes failed'
    fake.latch({ message })
    settle(fake)
    expect(fake.rollout?.status?.releases?.[0]?.failure).toBe(message)
    fake.act({ id: 'a', type: 'abort' })
    settle(fake)
    expect(fake.rollout?.status?.releases?.[0]).toMatchObject({ result: 'RolledBack', failure: message })
  })

  it('are stopped where the Rollout is disabled', () => {
    const fake = waiting()
    fake.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(fake)
    expect(results(fake)).toEqual([['hash-v2', 'Stopped']])
  })

  it('are limited to the latest ones', () => {
    const fake = waiting()
    for (let version = 3; version <= RELEASES_MAX + 3; version++) {
      fake.setImage(`v${version}`)
      settle(fake)
    }
    expect(results(fake).map(([revision]) => revision)).toEqual(Array.from({ length: RELEASES_MAX }, (_, at) => `hash-v${at + 4}`))
  })
})

function atRest(): FakeCluster {
  const fake = new FakeCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
  settle(fake)
  return fake
}

function waiting(): FakeCluster {
  const fake = atRest()
  fake.setImage('v2')
  settle(fake)
  return fake
}

function promote(fake: FakeCluster): void {
  fake.act({ id: 'p', type: 'promote' })
  settle(fake)
}

function results(fake: FakeCluster): readonly (readonly [string, NonNullable<RolloutStatus['releases']>[number]['result']])[] {
  return (fake.rollout?.status?.releases ?? []).map(({ revision, result }) => [revision, result])
}
