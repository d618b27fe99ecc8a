import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { FakeClock } from '@tranche/clock'
import { describe, expect, it } from 'vitest'
import { createReleaseStore } from '../src/live/release-store.ts'
import { readFailedAgain } from '../src/ports/read-failed-again.ts'
import { renewWhenChanged, reportKeyOf } from '../src/ports/renew-when-changed.ts'
import { createRenewer } from '../src/ports/renewer.ts'
import { turningPointOf } from '../src/ports/turning-point.ts'
import { summary } from './builders.ts'

describe('a renewer', () => {
  function started() {
    const clock = new FakeClock()
    const reads: { readonly atMs: number; readonly arrive: () => void; readonly fail: () => void }[] = []
    const startMs = clock.monotonicMs()
    const renew = (): Promise<void> =>
      new Promise((resolve, reject) =>
        reads.push({ atMs: clock.monotonicMs() - startMs, arrive: resolve, fail: () => reject(new Error('no answer')) }),
      )
    const renewer = createRenewer({ clock, apartMs: 1_000, renew })
    const starts = (): readonly number[] => reads.map(({ atMs }) => atMs)
    return { clock, reads, renewer, starts }
  }

  it('reads nothing while nothing changes', async () => {
    const { clock, starts } = started()
    await clock.advanceAsync(10_000)
    expect(starts()).toEqual([])
  })

  it('reads once for many changes, at most once in its time', async () => {
    const { clock, reads, renewer, starts } = started()
    for (let at = 0; at < 25; at++) {
      renewer.changed()
      await clock.advanceAsync(100)
      reads.at(-1)?.arrive()
    }
    await clock.advanceAsync(5_000)
    expect(starts()).toEqual([1_000, 2_000, 3_000])
  })

  it('waits for a slow answer instead of asking again, and then asks again for what has changed meanwhile', async () => {
    const { clock, reads, renewer, starts } = started()
    renewer.changed()
    await clock.advanceAsync(1_000)
    for (let at = 0; at < 5; at++) {
      renewer.changed()
      await clock.advanceAsync(1_000)
    }
    expect(starts()).toEqual([1_000])
    reads[0]!.arrive()
    await clock.advanceAsync(0)
    expect(starts()).toEqual([1_000, 6_000])
  })

  it('continues after a failed read', async () => {
    const { clock, reads, renewer, starts } = started()
    renewer.changed()
    await clock.advanceAsync(1_000)
    reads[0]!.fail()
    await clock.advanceAsync(500)
    renewer.changed()
    await clock.advanceAsync(5_000)
    expect(starts()).toEqual([1_000, 2_000])
  })

  it('reads nothing once it is stopped', async () => {
    const { clock, reads, renewer, starts } = started()
    renewer.changed()
    await clock.advanceAsync(1_000)
    renewer.changed()
    renewer.stop()
    reads[0]!.arrive()
    await clock.advanceAsync(5_000)
    expect(starts()).toEqual([1_000])
  })
})

describe('the report of a rollout', () => {
  it('arrives from an API that needs longer than the time between two steps of the release', async () => {
    const clock = new FakeClock()
    const releases = createReleaseStore((callback) => callback())
    const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } })
    const answers: (() => void)[] = []
    let read = 0
    let arrived = 0
    const observer = new QueryObserver(queries, {
      queryKey: reportKeyOf(summary()),
      initialData: 0,
      staleTime: Number.POSITIVE_INFINITY,
      queryFn: () => new Promise<number>((resolve) => answers.push(() => resolve(++read))),
    })
    const end = observer.subscribe(({ data = 0 }) => (arrived = data))
    releases.apply({ type: 'rollout', rollout: summary() })
    const stop = renewWhenChanged({ queries, releases, clock }, summary())
    for (let index = 1; index <= 12; index++) {
      releases.apply({ type: 'rollout', rollout: summary({ step: { index, count: 12, state: 'StepUpgrade' } }) })
      if (index % 3 === 0) answers.shift()?.()
      await clock.advanceAsync(1_000)
    }
    expect(answers.length).toBeLessThanOrEqual(1)
    expect(arrived).toBeGreaterThanOrEqual(3)
    for (const off of [stop, end]) off()
    queries.clear()
  })

  it('is read again after a change while it is read for the first time', async () => {
    const clock = new FakeClock()
    const releases = createReleaseStore((callback) => callback())
    const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } })
    const answers: (() => void)[] = []
    let version = 1
    const observer = new QueryObserver(queries, {
      queryKey: reportKeyOf(summary()),
      staleTime: Number.POSITIVE_INFINITY,
      queryFn: () => new Promise<number>((resolve) => answers.push(resolve.bind(null, version))),
    })
    let arrived: number | undefined
    const end = observer.subscribe(({ data }) => (arrived = data))
    releases.apply({ type: 'rollout', rollout: summary() })
    const stop = renewWhenChanged({ queries, releases, clock }, summary())
    await clock.advanceAsync(500)
    version = 2
    releases.apply({ type: 'rollout', rollout: summary({ message: 'changed' }) })
    await clock.advanceAsync(6_000)
    answers.shift()?.()
    await clock.advanceAsync(6_000)
    for (const answer of answers.splice(0)) answer()
    await clock.advanceAsync(1_000)
    expect(arrived).toBe(2)
    for (const off of [stop, end]) off()
    queries.clear()
  })
})

describe('a report that could not be read', () => {
  it('is read again once the stream is live again, and not before', async () => {
    const clock = new FakeClock()
    const releases = createReleaseStore((callback) => callback())
    const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } })
    let reads = 0
    const queryFn = async (): Promise<number> => {
      reads += 1
      if (reads < 3) throw new Error('no answer')
      return reads
    }
    const observer = new QueryObserver(queries, { queryKey: reportKeyOf(summary()), staleTime: Number.POSITIVE_INFINITY, queryFn })
    let arrived: number | undefined
    const end = observer.subscribe(({ data }) => (arrived = data))
    releases.setLive({ kind: 'live' })
    const stop = readFailedAgain(queries, releases)
    for (const kind of ['reconnecting', 'live', 'reconnecting', 'live', 'reconnecting', 'live'] as const) {
      releases.setLive(kind === 'live' ? { kind } : { kind, staleSinceMs: 0, why: 'lost' })
      releases.apply({ type: 'rollout', rollout: summary() })
      await clock.advanceAsync(1_000)
    }
    expect([reads, arrived]).toEqual([3, 3])
    for (const off of [stop, end]) off()
    queries.clear()
  })
})

describe('the turning point of a release', () => {
  const nodes = summary().nodes
  const before = turningPointOf(summary())

  it.each([
    { change: 'counts of healthy nodes', to: summary({ nodes: { ...nodes, updated: 3, unavailable: 2 }, message: '3 nodes' }) },
    { change: 'the status was written again', to: summary({ resourceVersion: '2' }) },
  ])('stays when $change', ({ to }) => {
    expect(turningPointOf(to)).toBe(before)
  })

  it.each([
    { change: 'the phase', to: summary({ phase: 'Progressing' }) },
    { change: 'the step', to: summary({ step: { index: 1, count: 2, state: 'StepPaused' } }) },
    { change: 'the version', to: summary({ canaryRevision: 'other' }) },
    { change: 'the number of failed nodes', to: summary({ nodes: { ...nodes, failed: 1 } }) },
    { change: 'the pause of the spec', to: summary({ paused: true }) },
  ])('changes with $change', ({ to }) => {
    expect(turningPointOf(to)).not.toBe(before)
  })
})
