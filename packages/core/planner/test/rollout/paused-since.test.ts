import { describe, expect, it } from 'vitest'
import { settle } from '../../../../../test/fakes/settle.ts'
import { FakeCluster } from '../../../../../test/fakes/fake-cluster.ts'

/** A release that spec.strategy.paused stopped an hour ago. */
function pausedFakeCluster(): FakeCluster {
  const fake = new FakeCluster()
  settle(fake)
  fake.setImage('v2')
  settle(fake)
  fake.pause(true)
  settle(fake)
  fake.nowMs += 3_600_000
  return fake
}

function editStatus(fake: FakeCluster, edit: (status: object) => object): void {
  const rollout = fake.rollout!
  fake.rollout = { ...rollout, status: edit(rollout.status!) as typeof rollout.status }
}

describe('the status of a release that spec.strategy.paused stops', () => {
  it('has the time in a separate field', () => {
    const { status } = pausedFakeCluster().rollout!
    expect(status?.pausedSince).toBeDefined()
    expect(status?.message).toContain(`paused by spec.strategy.paused since ${status?.pausedSince}`)
  })

  it('names the command that resumes', () => {
    expect(pausedFakeCluster().rollout!.status?.message).toMatch(/; run tranche resume [a-z-]+ -n [a-z]+ to continue$/)
  })

  it('keeps the time of the pause whatever its message says', () => {
    const fake = pausedFakeCluster()
    const since = fake.rollout!.status?.pausedSince
    editStatus(fake, (status) => ({ ...status, message: 'x' }))
    settle(fake)
    expect(fake.rollout!.status).toMatchObject({ pausedSince: since, message: expect.stringContaining(`since ${since}`) as string })
  })

  it('takes the time of the pause from the condition where an older version wrote the status', () => {
    const fake = pausedFakeCluster()
    const since = fake.rollout!.status?.pausedSince
    editStatus(fake, ({ pausedSince: _none, ...status }: { pausedSince?: string }) => status)
    settle(fake)
    expect(fake.rollout!.status?.pausedSince).toBe(since)
  })

  it.each([`2026-01-01T00:00:00ZT${'x'.repeat(300_000)}`, '2026-01-01T00:00:00x0Z'])(
    'ignores an invalid time of the pause in the status, though API servers accept it: %.30s',
    (pausedSince) => {
      const fake = pausedFakeCluster()
      const editedMs = fake.nowMs
      editStatus(fake, (status) => ({ ...status, pausedSince }))
      settle(fake)
      expect(Date.parse(fake.rollout!.status?.pausedSince ?? '')).toBeGreaterThanOrEqual(editedMs)
      expect(JSON.stringify(fake.rollout!.status).length).toBeLessThan(10_000)
    },
  )

  it('drops the time of the pause when the release continues', () => {
    const fake = pausedFakeCluster()
    fake.pause(false)
    settle(fake)
    expect(fake.rollout!.status?.pausedSince).toBeUndefined()
  })
})
