import { FakeClock, systemClock } from '@tranche/clock'
import { createNodeStore, createReleaseStore, type WritableNodeStore, type WritableReleaseStore } from '@tranche/dashboard'
import { AppError } from '@tranche/errors'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LOOK_MS, pollReleases, type PollOptions, type ReleasePoll, WHOLE_MS } from '../src/live/poll-releases.ts'
import { readRelease, type ReadRelease } from '../src/reading/read-release.ts'
import { type Cluster, key, startCluster } from './cluster.ts'

let cluster: Cluster
let read: ReadRelease
beforeAll(async () => {
  cluster = await startCluster([])
  read = await readRelease({ client: cluster.admin, clock: systemClock }, key)
})
afterAll(() => cluster.simulator.stop())

let clock: FakeClock
let releases: WritableReleaseStore
let nodes: WritableNodeStore
let reads: string[]
let versions: string
let failure: Error | null
let isVisible: boolean
let present: readonly ReadRelease[]

beforeEach(() => {
  clock = new FakeClock()
  releases = createReleaseStore((callback) => callback())
  nodes = createNodeStore()
  reads = []
  versions = '1 1 1'
  failure = null
  isVisible = true
  present = [read]
})

function start(change: Partial<PollOptions> = {}): ReleasePoll {
  const fail = (): void => {
    if (failure !== null) throw failure
  }
  return pollReleases({
    ...{ clock, releases, nodes },
    async readFleet() {
      reads.push('fleet')
      fail()
      return { facts: present.map(({ facts }) => facts), lacks: [] }
    },
    async readRelease() {
      reads.push('release')
      return read
    },
    async readVersions() {
      reads.push('versions')
      fail()
      return versions
    },
    onLacks: () => {},
    onError: () => {},
    isVisible: () => isVisible,
    ...change,
  })
}

describe('the poll of a host', () => {
  it('shows the fleet, and forgets a Rollout that is gone', async () => {
    const close = start().open()
    await clock.advanceAsync(0)
    expect([...releases.snapshot().rollouts.keys()]).toEqual(['demo/agent'])
    expect(releases.snapshot()).toMatchObject({ isComplete: true, live: { kind: 'live' } })
    present = []
    await clock.advanceAsync(LOOK_MS)
    expect(releases.snapshot().rollouts.size).toBe(0)
    close()
    await clock.advanceAsync(10 * LOOK_MS)
    expect(reads).toEqual(['fleet', 'fleet'])
  })

  it('reads a shown Rollout in full only when its versions have changed, or after a while', async () => {
    const poll = start()
    poll.show(key)
    const close = poll.open()
    await clock.advanceAsync(LOOK_MS)
    expect(reads).toEqual(['versions', 'release', 'versions'])
    expect(nodes.snapshot().nodes?.size).toBe(3)
    versions = '2 1 1'
    await clock.advanceAsync(LOOK_MS)
    expect(reads.slice(3)).toEqual(['versions', 'release'])
    await clock.advanceAsync(WHOLE_MS + LOOK_MS)
    expect(reads.filter((one) => one === 'release')).toHaveLength(3)
    close()
  })

  it('does not renew what is shown of a Rollout that has not changed', async () => {
    const close = start().open()
    await clock.advanceAsync(0)
    const summary = releases.snapshot().rollouts.get('demo/agent')
    await clock.advanceAsync(3 * LOOK_MS)
    expect(releases.snapshot().rollouts.get('demo/agent')).toBe(summary)
    close()
  })

  it('reads nothing in the background, and at once on request', async () => {
    isVisible = false
    const poll = start()
    const close = poll.open()
    await clock.advanceAsync(5 * LOOK_MS)
    expect(reads).toEqual([])
    isVisible = true
    poll.now()
    await clock.advanceAsync(0)
    expect(reads).toEqual(['fleet'])
    close()
  })

  it('says since when its data are old, and continues', async () => {
    const errors: unknown[] = []
    const close = start({ onError: (error) => errors.push(error) }).open()
    await clock.advanceAsync(0)
    const goodMs = clock.nowMs()
    failure = new Error('no answer')
    await clock.advanceAsync(2 * LOOK_MS)
    expect(releases.snapshot().live).toEqual({ kind: 'reconnecting', staleSinceMs: goodMs, why: 'no answer' })
    failure = null
    await clock.advanceAsync(LOOK_MS)
    expect(releases.snapshot().live).toEqual({ kind: 'live' })
    expect(errors).toEqual([null, new Error('no answer'), new Error('no answer'), null])
    close()
  })

  it('shows a Rollout as gone when it is deleted', async () => {
    const poll = start()
    poll.show(key)
    const close = poll.open()
    await clock.advanceAsync(0)
    expect(releases.snapshot().rollouts.size).toBe(1)
    failure = new AppError('ROLLOUT_NOT_FOUND', 'gone')
    await clock.advanceAsync(LOOK_MS)
    expect(releases.snapshot()).toMatchObject({ rollouts: new Map(), live: { kind: 'live' }, isComplete: true })
    close()
  })

  it('waits longer between the reads of a cluster that answers slowly', async () => {
    const slow = async (): Promise<never> => {
      clock.advance(3_000)
      reads.push('fleet')
      throw new Error('slow')
    }
    const close = start({ readFleet: slow }).open()
    await clock.advanceAsync(11_000)
    expect(reads).toHaveLength(1)
    await clock.advanceAsync(1_000)
    expect(reads).toHaveLength(2)
    close()
  })
})
