import { FakeClock } from '@tranche/clock'
import type { GroupPort } from '@tranche/controllers'
import type { Lease } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { createGroupSweep, GROUP_SWEEP_MS } from '../src/sweep-groups.ts'

type Holder = Awaited<ReturnType<GroupPort['readHolder']>>

const leaseOf = (name: string, holderIdentity: string): Lease =>
  ({ metadata: { namespace: 'system', name, uid: name, resourceVersion: '1' }, spec: { holderIdentity } }) as unknown as Lease
const standing = { release: {}, wanted: null } as unknown as Holder

function aSweep(leases: Readonly<Record<string, Lease | Error>>, holders: Readonly<Record<string, Holder>> = {}) {
  const clock = new FakeClock()
  const deleted: string[] = []
  const sweep = createGroupSweep({
    clock,
    log: silentLogger,
    names: () => new Set(Object.keys(leases)),
    groups: {
      async readLease(name) {
        const lease = leases[name]
        if (lease instanceof Error) throw lease
        return lease ?? null
      },
      readHolder: async ({ name }) => holders[name],
      deleteLease: async ({ metadata }) => void deleted.push(metadata.name),
    },
  })
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms)
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  return { sweep, deleted, pass }
}

describe('a sweep of groups', () => {
  it('deletes the Lease of a BatchRelease that is gone, and no other', async () => {
    const leases = { gone: leaseOf('gone', 'demo/a/1'), held: leaseOf('held', 'demo/b/2'), free: leaseOf('free', '') }
    const { sweep, deleted, pass } = aSweep(leases, { b: standing })
    sweep.begin()
    await pass(GROUP_SWEEP_MS - 1)
    expect(deleted).toEqual([])
    await pass(1)
    expect(deleted).toEqual(['gone'])
    await pass(GROUP_SWEEP_MS)
    expect(deleted).toEqual(['gone', 'gone'])
  })

  it('continues after a Lease that cannot be read', async () => {
    const { sweep, deleted, pass } = aSweep({ broken: new Error('no answer'), gone: leaseOf('gone', 'demo/a/1') })
    sweep.begin()
    await pass(GROUP_SWEEP_MS)
    expect(deleted).toEqual(['gone'])
  })

  it('ends with the term of the leader, and begins again with the next one', async () => {
    const { sweep, deleted, pass } = aSweep({ gone: leaseOf('gone', 'demo/a/1') })
    sweep.begin()
    sweep.end()
    await pass(3 * GROUP_SWEEP_MS)
    expect(deleted).toEqual([])
    sweep.begin()
    await pass(GROUP_SWEEP_MS)
    expect(deleted).toEqual(['gone'])
  })
})
