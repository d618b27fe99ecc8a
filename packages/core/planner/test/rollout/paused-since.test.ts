import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/toys/settle.ts'
import { ToyCluster } from '../../../../../test/toys/toy-cluster.ts'

/** A release that spec.strategy.paused has stopped, an hour ago. */
function pausedToy(): ToyCluster {
  const toy = new ToyCluster()
  settle(toy)
  toy.setImage('v2')
  settle(toy)
  toy.pause(true)
  settle(toy)
  toy.nowMs += 3_600_000
  return toy
}

function editStatus(toy: ToyCluster, edit: (status: object) => object): void {
  const rollout = toy.rollout!
  toy.rollout = { ...rollout, status: edit(rollout.status!) as typeof rollout.status }
}

describe('the status of a release that spec.strategy.paused stops', () => {
  it('says since when in a field of its own', () => {
    const { status } = pausedToy().rollout!
    expect(status?.pausedSince).toBeDefined()
    expect(status?.message).toContain(`paused by spec.strategy.paused since ${status?.pausedSince}`)
  })

  it('names the command that goes on', () => {
    expect(pausedToy().rollout!.status?.message).toMatch(/; run tranche resume [a-z-]+ -n [a-z]+ to go on$/)
  })

  it('keeps the time of the pause whatever its message says', () => {
    const toy = pausedToy()
    const since = toy.rollout!.status?.pausedSince
    editStatus(toy, (status) => ({ ...status, message: 'x' }))
    settle(toy)
    expect(toy.rollout!.status).toMatchObject({ pausedSince: since, message: expect.stringContaining(`since ${since}`) as string })
  })

  it('takes the time of the pause from the condition where an older version wrote the status', () => {
    const toy = pausedToy()
    const since = toy.rollout!.status?.pausedSince
    editStatus(toy, ({ pausedSince: _none, ...status }: { pausedSince?: string }) => status)
    settle(toy)
    expect(toy.rollout!.status?.pausedSince).toBe(since)
  })

  it.each([`2026-01-01T00:00:00ZT${'x'.repeat(300_000)}`, '2026-01-01T00:00:00x0Z'])(
    'takes no time of the pause from the status that is none, though API servers take it: %.30s',
    (pausedSince) => {
      const toy = pausedToy()
      const editedMs = toy.nowMs
      editStatus(toy, (status) => ({ ...status, pausedSince }))
      settle(toy)
      expect(Date.parse(toy.rollout!.status?.pausedSince ?? '')).toBeGreaterThanOrEqual(editedMs)
      expect(JSON.stringify(toy.rollout!.status).length).toBeLessThan(10_000)
    },
  )

  it('drops the time of the pause when the release goes on', () => {
    const toy = pausedToy()
    toy.pause(false)
    settle(toy)
    expect(toy.rollout!.status?.pausedSince).toBeUndefined()
  })
})
