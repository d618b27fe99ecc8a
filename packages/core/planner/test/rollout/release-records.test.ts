import { RELEASES_MAX, type RolloutStatus } from '@tranche/api-schema'
import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../../test/toys/toy-cluster.ts'

describe('the releases that a status remembers', () => {
  it('are none before the first', () => {
    expect(atRest().rollout?.status?.releases).toBeUndefined()
  })

  it('begin with a template, and end once it is on every node', () => {
    const toy = waiting()
    expect(toy.rollout?.status?.releases).toEqual([{ revision: 'hash-v2', startedAt: expect.any(String) }])
    promote(toy)
    expect(results(toy)).toEqual([['hash-v2', 'Completed']])
    const [{ startedAt, endedAt = '' } = { startedAt: '' }] = toy.rollout?.status?.releases ?? []
    expect(startedAt < endedAt).toBe(true)
  })

  it('are superseded by another template', () => {
    const toy = waiting()
    toy.setImage('v3')
    settle(toy)
    expect(results(toy)).toEqual([
      ['hash-v2', 'Superseded'],
      ['hash-v3', undefined],
    ])
  })

  it('are rolled back by an abort, and the rollback is none of its own', () => {
    const toy = waiting()
    toy.act({ id: 'a', type: 'abort' })
    settle(toy)
    expect(toy.image()).toBe('v1')
    expect(results(toy)).toEqual([['hash-v2', 'RolledBack']])
  })

  it('are rolled back by the template of before', () => {
    const toy = waiting()
    toy.setImage('v1')
    settle(toy)
    expect(results(toy)).toEqual([['hash-v2', 'RolledBack']])
  })

  it('have failed where another template comes after a failure, and say why', () => {
    const toy = waiting()
    toy.latch()
    settle(toy)
    const seen = toy.rollout?.status?.failure?.message
    expect(seen).toBeDefined()
    toy.setImage('v3')
    settle(toy)
    expect(toy.rollout?.status?.releases?.[0]).toMatchObject({ revision: 'hash-v2', result: 'Failed', failure: seen })
  })

  it('say nothing of a failure where the version came to every node after all', () => {
    const toy = waiting()
    toy.latch()
    settle(toy)
    expect(toy.rollout?.status?.releases).toMatchObject([{ revision: 'hash-v2', failure: expect.any(String) }])
    toy.act({ id: 'r', type: 'retry' })
    settle(toy)
    promote(toy)
    expect(toy.rollout?.status?.releases).toEqual([
      { revision: 'hash-v2', startedAt: expect.any(String), endedAt: expect.any(String), result: 'Completed' },
    ])
  })

  it.each([
    ['Complete', 'Completed'],
    ['Rollback', 'RolledBack'],
  ] as const)('end as tranche.dev/on-delete %s ends them before the Rollout is disabled', (policy, result) => {
    const toy = waiting()
    toy.onDelete(policy)
    toy.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(toy)
    expect(toy.rollout?.status?.phase).toBe('Disabled')
    expect(results(toy)).toEqual([['hash-v2', result]])
  })

  it('say of how many nodes have failed in the end, not of the first alone', () => {
    const toy = waiting()
    toy.latch()
    settle(toy)
    const message = '3 of 5 nodes failed'
    toy.latch({ message })
    settle(toy)
    expect(toy.rollout?.status?.releases?.[0]?.failure).toBe(message)
    toy.act({ id: 'a', type: 'abort' })
    settle(toy)
    expect(toy.rollout?.status?.releases?.[0]).toMatchObject({ result: 'RolledBack', failure: message })
  })

  it('are stopped where the Rollout is disabled', () => {
    const toy = waiting()
    toy.editRollout((spec) => ({ ...spec, disabled: true }))
    settle(toy)
    expect(results(toy)).toEqual([['hash-v2', 'Stopped']])
  })

  it('are the latest ones alone', () => {
    const toy = waiting()
    for (let version = 3; version <= RELEASES_MAX + 3; version++) {
      toy.setImage(`v${version}`)
      settle(toy)
    }
    expect(results(toy).map(([revision]) => revision)).toEqual(Array.from({ length: RELEASES_MAX }, (_, at) => `hash-v${at + 4}`))
  })
})

function atRest(): ToyCluster {
  const toy = new ToyCluster({ steps: [{ replicas: '20%', pause: {} }, { replicas: '100%' }] })
  settle(toy)
  return toy
}

function waiting(): ToyCluster {
  const toy = atRest()
  toy.setImage('v2')
  settle(toy)
  return toy
}

function promote(toy: ToyCluster): void {
  toy.act({ id: 'p', type: 'promote' })
  settle(toy)
}

function results(toy: ToyCluster): readonly (readonly [string, NonNullable<RolloutStatus['releases']>[number]['result']])[] {
  return (toy.rollout?.status?.releases ?? []).map(({ revision, result }) => [revision, result])
}
