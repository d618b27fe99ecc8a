import type { StreamMessage } from '@tranche/api-schema'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createNodeStore } from '../src/live/node-store.ts'
import { createReleaseStore } from '../src/live/release-store.ts'
import { soon } from '../src/live/soon.ts'
import { node, summary } from './builders.ts'

describe('the store of rollouts', () => {
  const rollout = (name: string): StreamMessage => ({ type: 'rollout', rollout: summary({ name }) })
  function started() {
    const frames: (() => void)[] = []
    const store = createReleaseStore((callback) => frames.push(callback))
    let renewals = 0
    store.subscribe(() => renewals++)
    const names = (): readonly string[] => [...store.snapshot().rollouts.keys()]
    return { store, names, frame: () => frames.splice(0).forEach((callback) => callback()), renewals: () => renewals, frames }
  }

  it('is complete only once the first list has arrived, also if that is empty', () => {
    const { store } = started()
    store.apply({ type: 'reset' })
    expect(store.snapshot().isComplete).toBe(false)
    store.complete()
    expect(store.snapshot()).toMatchObject({ isComplete: true, rollouts: new Map() })
  })

  it('renews once for a burst of changes', () => {
    const { store, names, frame, renewals } = started()
    store.complete()
    const before = renewals()
    for (let at = 0; at < 1_000; at++) store.apply(rollout(`agent-${at}`))
    expect(names()).toEqual([])
    frame()
    expect([names().length, renewals() - before]).toEqual([1_000, 1])
  })

  it('keeps the old state visible after a reset, until the new one is complete', () => {
    const { store, names, frame } = started()
    store.apply(rollout('old'))
    store.complete()
    store.apply({ type: 'reset' })
    store.apply(rollout('new'))
    frame()
    expect(names()).toEqual(['demo/old'])
    store.complete()
    frame()
    expect(names()).toEqual(['demo/new'])
  })

  it('forgets a deleted rollout', () => {
    const { store, names, frame } = started()
    store.apply(rollout('agent'))
    store.complete()
    store.apply({ type: 'gone', namespace: 'demo', name: 'agent' })
    frame()
    expect(names()).toEqual([])
  })

  it('gives the same snapshot until something changes', () => {
    const { store, frame } = started()
    store.complete()
    const before = store.snapshot()
    store.apply({ type: 'event', namespace: 'demo', event: { at: '', type: 'Normal', reason: '', object: '', message: '' } })
    frame()
    expect(store.snapshot()).toBe(before)
  })
})

describe('the store of nodes', () => {
  const key = { namespace: 'demo', name: 'agent' }
  it('applies changes to the nodes of the shown rollout', () => {
    const store = createNodeStore()
    store.show(key)
    expect(store.snapshot().nodes).toBeUndefined()
    store.apply({ type: 'nodes', ...key, reset: true, nodes: [node('a'), node('b')], gone: [] })
    store.apply({ type: 'nodes', ...key, reset: false, nodes: [node('b', { state: 'failing' })], gone: ['a'] })
    expect([...store.snapshot().nodes!.values()]).toEqual([node('b', { state: 'failing' })])
  })

  it('shows a state that arrives in parts once it is whole', () => {
    const store = createNodeStore()
    store.show(key)
    store.apply({ type: 'nodes', ...key, reset: true, nodes: [node('a')], gone: [], more: true })
    expect(store.snapshot().nodes).toBeUndefined()
    store.apply({ type: 'nodes', ...key, reset: false, nodes: [node('b')], gone: [] })
    expect([...store.snapshot().nodes!.keys()]).toEqual(['a', 'b'])
  })

  it('ignores a late message about another rollout', () => {
    const store = createNodeStore()
    store.show({ ...key, name: 'other' })
    store.apply({ type: 'nodes', ...key, reset: true, nodes: [node('a')], gone: [] })
    expect(store.snapshot()).toEqual({ rollout: 'demo/other', nodes: undefined })
  })

  it('forgets the nodes when another rollout is shown, and when the same one begins again', () => {
    const store = createNodeStore()
    store.show(key)
    store.apply({ type: 'nodes', ...key, reset: true, nodes: [node('a')], gone: [] })
    store.apply({ type: 'nodes', ...key, reset: true, nodes: [node('b')], gone: [] })
    expect([...store.snapshot().nodes!.keys()]).toEqual(['b'])
    store.show(null)
    expect(store.snapshot()).toEqual({ rollout: null, nodes: undefined })
  })
})

describe('what is shown soon', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })

  it.each([
    { page: 'a visible page', frameAfterMs: 16, shownAfterMs: 16 },
    { page: 'a hidden page, which gets no frames', frameAfterMs: null, shownAfterMs: 250 },
  ])('is shown once, on $page', ({ frameAfterMs, shownAfterMs }) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    vi.stubGlobal('requestAnimationFrame', (run: () => void) => (frameAfterMs === null ? 0 : setTimeout(run, frameAfterMs)))
    vi.stubGlobal('cancelAnimationFrame', (frame: number) => clearTimeout(frame))
    let shown = 0
    soon(() => shown++)
    vi.advanceTimersByTime(shownAfterMs - 1)
    expect(shown).toBe(0)
    vi.advanceTimersByTime(1)
    expect(shown).toBe(1)
    vi.advanceTimersByTime(1_000)
    expect(shown).toBe(1)
  })
})
