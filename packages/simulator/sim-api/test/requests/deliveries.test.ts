import { describe, expect, it } from 'vitest'
import { type RequestOptions, resources } from '@tranche/sim-api'
import { aConfigMap, aServer } from '../testing.ts'

const reader = { name: 'reader' }

describe('a delivery', () => {
  it('is the last page of a list, with the version of the first page', async () => {
    const { create, list, reported } = setUp()
    for (const name of ['a', 'b', 'c']) await create(name)
    const token = await list({ limit: 2 })
    expect(reported).toEqual([])
    await create('d')
    await list({ limit: 2, continue: token })
    expect(reported).toEqual([3])
  })

  it('is not a list whose answer was lost', async () => {
    const { list, reported, server } = setUp()
    server.useFaults({ onRequest: () => ({ kind: 'cut', when: 'after' }) })
    await expect(list({})).rejects.toThrow()
    expect(reported).toEqual([])
  })

  it.each([{ labelSelector: 'app=agent' }, { fieldSelector: 'metadata.name=a' }])(
    'is not a list or an event of a part: %j',
    async (part) => {
      const { create, list, watch, clock, reported } = setUp()
      await create('a')
      await list(part)
      await watch({ ...part, resourceVersion: '0', sendInitialEvents: false, resourceVersionMatch: 'NotOlderThan' })
      await create('b')
      clock.advance(30)
      expect(reported).toEqual([])
    },
  )

  it('is an event when it arrives, not when it is sent', async () => {
    const { create, watch, clock, reported } = setUp()
    await watch({ resourceVersion: '0', sendInitialEvents: false, resourceVersionMatch: 'NotOlderThan' })
    await create('a')
    clock.advance(29)
    expect(reported).toEqual([])
    clock.advance(1)
    expect(reported).toEqual([1])
  })

  it('is not each initial event, because their order is another one, but the bookmark at their end', async () => {
    const { create, watch, clock, reported } = setUp()
    for (const name of ['b', 'a']) await create(name)
    await watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: true })
    clock.advance(30)
    expect(reported).toEqual([2])
  })

  it('does not come from a stalled watch', async () => {
    const { create, watch, clock, reported, server } = setUp()
    server.useFaults({ onEvent: () => ({ kind: 'stall', ms: Number.POSITIVE_INFINITY }) })
    await watch({ resourceVersion: '0', sendInitialEvents: false, resourceVersionMatch: 'NotOlderThan' })
    await create('a')
    clock.advance(60_000)
    expect(reported).toEqual([])
  })
})

/** `told`: versions up to which the reader was reported to have everything, counted from the server's first. */
function setUp() {
  const { server, clock } = aServer({ watchDelayMs: { min: 30, max: 30 } })
  const first = server.revision()
  const reported: number[] = []
  server.observeDeliveries(({ actor, resource, revision }) => {
    expect([actor, resource]).toEqual([reader, resources.configMaps])
    reported.push(revision - first)
  })
  const client = server.clientFor({ name: 'writer' })
  const request = { actor: reader, resource: resources.configMaps, namespace: 'default' }
  return {
    server,
    clock,
    reported,
    create: (name: string) => client.create(resources.configMaps, aConfigMap(name)),
    watch: (options: RequestOptions) => server.watch({ ...request, options }, { frame: () => {}, end: () => {} }),
    async list(options: RequestOptions) {
      const result = await server.handle({ ...request, verb: 'list', options })
      return result.kind === 'list' ? result.list.metadata.continue : undefined
    },
  }
}
