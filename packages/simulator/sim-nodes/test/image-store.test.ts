import { createImageStore } from '@tranche/sim-nodes'
import { describe, expect, it } from 'vitest'

describe('the images of a node', () => {
  it('are there at once if their tag says no time', () => {
    expect(createImageStore().pull(['agent:v1', 'registry:5000/pull60s/agent'], 0)).toBe(0)
  })

  it('take as long as their tag says', () => {
    expect(createImageStore().pull(['agent:v2-pull60s'], 1_000)).toBe(60_000)
  })

  it('are pulled one after the other', () => {
    expect(createImageStore().pull(['agent:pull60s', 'init:pull5s'], 0)).toBe(65_000)
  })

  it('are pulled once, also by two pods at a time', () => {
    const store = createImageStore()
    store.pull(['agent:pull60s'], 0)
    expect(store.pull(['agent:pull60s'], 20_000)).toBe(40_000)
    expect(store.pull(['agent:pull60s'], 70_000)).toBe(0)
  })

  it('are known from pods that run already', () => {
    const store = createImageStore()
    store.add(['agent:pull60s'])
    expect(store.has(['agent:pull60s'])).toBe(true)
    expect(store.pull(['agent:pull60s'], 5_000)).toBe(0)
  })
})
