import { describe, expect, it } from 'vitest'
import { type ApiList, type RequestOptions, resources, type ResourceId, type WatchFrame } from '@tranche/sim-api'
import { aConfigMap, aPod, aServer, refusal } from '../testing.ts'

const tester = { name: 'tester' }

/** Revision of a server without writes. */
const atStart = aServer().server.revision()

describe('listing', () => {
  it('returns the pages of one snapshot, whatever happens between them', async () => {
    const { client, list } = setUp()
    for (const name of ['a', 'b', 'c', 'd']) await client.create(resources.configMaps, aConfigMap(name))
    const first = await list({ limit: 2 })
    await client.delete(resources.configMaps, 'c', 'default')
    await client.create(resources.configMaps, aConfigMap('bb'))
    const second = await list({ limit: 2, continue: first.metadata.continue })
    expect([namesOf(first), namesOf(second)]).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ])
    expect(first.metadata.remainingItemCount).toBe(2)
    expect(second.metadata).toEqual({ resourceVersion: first.metadata.resourceVersion })
  })

  it('responds with 410 and a token to continue when the snapshot has expired', async () => {
    const { client, list, server } = setUp()
    for (const name of ['a', 'b', 'c']) await client.create(resources.configMaps, aConfigMap(name))
    const first = await list({ limit: 1 })
    await client.delete(resources.configMaps, 'b', 'default')
    server.compact()
    const error = await refusal(list({ limit: 1, continue: first.metadata.continue }))
    expect([error.code, error.status.reason]).toEqual([410, 'Expired'])
    expect(namesOf(await list({ continue: error.status.metadata.continue }))).toEqual(['c'])
  })

  const selected: Record<string, { options: RequestOptions; want: readonly string[] }> = {
    'by equality': { options: { labelSelector: 'app=x' }, want: ['a'] },
    'by double equality': { options: { labelSelector: 'app==x' }, want: ['a'] },
    'by inequality, objects without the label included': { options: { labelSelector: 'app!=x' }, want: ['b', 'c'] },
    'by set': { options: { labelSelector: 'app in (x, y)' }, want: ['a', 'b'] },
    'by absence from a set': { options: { labelSelector: 'app notin (x,y)' }, want: ['c'] },
    'by presence': { options: { labelSelector: 'app' }, want: ['a', 'b'] },
    'by absence': { options: { labelSelector: '!app' }, want: ['c'] },
    'above a number': { options: { labelSelector: 'size>4' }, want: ['c'] },
    'below a number': { options: { labelSelector: 'size<4,tier' }, want: ['b'] },
    'by several requirements at once': { options: { labelSelector: 'app in (x,y),tier' }, want: ['b'] },
    'by name': { options: { fieldSelector: 'metadata.name=b' }, want: ['b'] },
    'by node': { options: { fieldSelector: 'spec.nodeName=n1' }, want: ['c'] },
    'by another node': { options: { fieldSelector: 'spec.nodeName!=n1,status.phase=Pending' }, want: ['a', 'b'] },
  }
  for (const [name, { options, want }] of Object.entries(selected))
    it(`selects ${name}`, async () => {
      const { client, list } = setUp(resources.pods)
      await client.create(resources.pods, aPod('a', { metadata: { labels: { app: 'x' } } }))
      await client.create(resources.pods, aPod('b', { metadata: { labels: { app: 'y', tier: 'z', size: '3' } } }))
      await client.create(resources.pods, aPod('c', { metadata: { labels: { size: '5' } }, spec: { nodeName: 'n1' } }))
      expect(namesOf(await list(options))).toEqual(want)
    })

  const refused: Record<string, { options: RequestOptions; want: number }> = {
    'an unknown field': { options: { fieldSelector: 'spec.colour=red' }, want: 400 },
    'a selector that cannot be parsed': { options: { labelSelector: 'a in b' }, want: 400 },
    'a bad continue token': { options: { continue: 'x' }, want: 400 },
    'a forged token of another version': { options: { continue: token({ v: 'v0', rv: 1001, start: 'default/a' }) }, want: 400 },
    'a forged token without a start': { options: { continue: token({ v: 'meta.k8s.io/v1', rv: 1001, start: '' }) }, want: 400 },
    'a forged token at no version': { options: { continue: token({ v: 'meta.k8s.io/v1', rv: 0, start: 'default/a' }) }, want: 400 },
    'a forged token from the future': { options: { continue: token({ v: 'meta.k8s.io/v1', rv: 99_999, start: 'a' }) }, want: 504 },
    'a forged token with a path that leads upwards': {
      options: { continue: token({ v: 'meta.k8s.io/v1', rv: 1001, start: '../a' }) },
      want: 400,
    },
    'a resource version that is not a number': { options: { resourceVersion: 'x' }, want: 400 },
    'a resource version from the future': { options: { resourceVersion: '99999' }, want: 504 },
    'a match without a version': { options: { resourceVersionMatch: 'Exact' }, want: 422 },
    'an exact match of any version': { options: { resourceVersionMatch: 'Exact', resourceVersion: '0' }, want: 422 },
    'a streaming list': { options: { sendInitialEvents: true }, want: 422 },
  }
  for (const [name, { options, want }] of Object.entries(refused))
    it(`refuses ${name} with ${want}`, async () => expect((await refusal(setUp().list(options))).code).toBe(want))

  it('lists the exact state at a version', async () => {
    const { client, list } = setUp()
    const { metadata } = await client.create(resources.configMaps, aConfigMap('a'))
    await client.create(resources.configMaps, aConfigMap('b'))
    expect(namesOf(await list({ resourceVersion: metadata.resourceVersion, resourceVersionMatch: 'Exact' }))).toEqual(['a'])
  })

  it('returns a page of a named version exactly, even without resourceVersionMatch', async () => {
    const { client, list } = setUp()
    const { metadata } = await client.create(resources.configMaps, aConfigMap('a'))
    await client.create(resources.configMaps, aConfigMap('b'))
    expect(namesOf(await list({ resourceVersion: metadata.resourceVersion, limit: 5 }))).toEqual(['a'])
    expect(namesOf(await list({ resourceVersion: metadata.resourceVersion }))).toEqual(['a', 'b'])
  })
})

describe('watching', () => {
  it('starts with the existing objects if no version is given', async () => {
    const { client, watch, advance } = setUp()
    await client.create(resources.configMaps, aConfigMap('a'))
    const frames = await watch({})
    expect(frames).toEqual([])
    await advance(20)
    expect(frames).toEqual(['ADDED a'])
  })

  it('replays all changes after the given version', async () => {
    const { client, watch, advance } = setUp()
    const { metadata } = await client.create(resources.configMaps, aConfigMap('a'))
    await client.create(resources.configMaps, aConfigMap('b'))
    const frames = await watch({ resourceVersion: metadata.resourceVersion })
    await client.delete(resources.configMaps, 'a', 'default')
    await advance(20)
    expect(frames).toEqual(['ADDED b', 'DELETED a'])
  })

  it('shows an object that leaves the selection as deleted, and one that enters as added', async () => {
    const { client, watch, advance } = setUp()
    await client.create(resources.configMaps, aConfigMap('a', { labels: { app: 'x' } }))
    const frames = await watch({ labelSelector: 'app=x' })
    await client.patch(resources.configMaps, 'a', 'default', { metadata: { labels: { app: 'y' } } })
    await client.patch(resources.configMaps, 'a', 'default', { metadata: { labels: { other: 'z' } } })
    await client.patch(resources.configMaps, 'a', 'default', { metadata: { labels: { app: 'x' } } })
    await advance(20)
    expect(frames).toEqual(['ADDED a', 'DELETED a', 'ADDED a'])
  })

  it('ends a watch from an expired version with an error in the stream', async () => {
    const { client, watch, advance, server } = setUp()
    await client.create(resources.configMaps, aConfigMap('a'))
    server.compact()
    const frames = await watch({ resourceVersion: '1000' })
    await advance(20)
    expect(frames).toEqual(['ERROR 410 Expired', 'end closed'])
  })

  it('forgets changes beyond its history', async () => {
    const { client, watch, advance } = setUp(resources.configMaps, 5)
    for (let index = 0; index < 20; index++) await client.create(resources.configMaps, aConfigMap(`m-${index}`))
    const frames = await watch({ resourceVersion: String(atStart) })
    await advance(20)
    expect(frames[0]).toBe('ERROR 410 Expired')
  })

  it('sends a bookmark each minute to clients that allow them', async () => {
    const { client, watch, advance, server } = setUp()
    const frames = await watch({ resourceVersion: String(server.revision()), allowWatchBookmarks: true })
    await client.create(resources.pods, aPod('a'))
    await advance(60_020)
    expect(frames).toEqual([`BOOKMARK ${server.revision()}`])
    await advance(60_020)
    expect(frames).toHaveLength(2)
  })

  it('ends at its timeout, or by itself between 30 and 60 minutes', async () => {
    const { watch, advance } = setUp()
    const short = await watch({ timeoutSeconds: 5 })
    const long = await watch({})
    await advance(5_000)
    expect([short, long]).toEqual([['end closed'], []])
    await advance(30 * 60_000 - 5_001)
    expect(long).toEqual([])
    await advance(30 * 60_000)
    expect(long).toEqual(['end closed'])
  })

  it('sends a bookmark two seconds before its end if bookmarks are allowed', async () => {
    const { watch, advance } = setUp()
    const [allowed, unasked] = [await watch({ timeoutSeconds: 5, allowWatchBookmarks: true }), await watch({ timeoutSeconds: 5 })]
    await advance(2_900)
    expect(allowed).toEqual([])
    await advance(200)
    expect([allowed, unasked]).toEqual([[`BOOKMARK ${atStart}`], []])
    await advance(2_000)
    expect([allowed, unasked]).toEqual([[`BOOKMARK ${atStart}`, 'end closed'], ['end closed']])
  })

  it('stays open beyond its timeout while it is stalled', async () => {
    const { client, watch, advance, server } = setUp()
    server.useFaults({ onEvent: () => ({ kind: 'stall', ms: Number.POSITIVE_INFINITY }) })
    const frames = await watch({ timeoutSeconds: 5 })
    await client.create(resources.configMaps, aConfigMap('a'))
    await advance(60_000)
    expect(frames).toEqual([])
  })

  const streamed: Record<string, { options: RequestOptions; want: readonly string[] }> = {
    'all existing objects, a bookmark that marks their end, then changes': {
      options: { allowWatchBookmarks: true },
      want: ['ADDED a', 'ADDED b', `BOOKMARK ${atStart + 2} end`, 'ADDED c'],
    },
    'the same from any cached version': {
      options: { allowWatchBookmarks: true, resourceVersion: '0' },
      want: ['ADDED a', 'ADDED b', `BOOKMARK ${atStart + 2} end`, 'ADDED c'],
    },
    'the same from an old version within the history': {
      options: { allowWatchBookmarks: true, resourceVersion: String(atStart + 1) },
      want: ['ADDED a', 'ADDED b', `BOOKMARK ${atStart + 2} end`, 'ADDED c'],
    },
    'only objects of the selection': {
      options: { allowWatchBookmarks: true, fieldSelector: 'metadata.name=b' },
      want: ['ADDED b', `BOOKMARK ${atStart + 2} end`],
    },
    'no bookmark to a client that does not allow them': { options: {}, want: ['ADDED a', 'ADDED b', 'ADDED c'] },
    'only new objects if initial events are not requested': {
      options: { sendInitialEvents: false, allowWatchBookmarks: true },
      want: ['ADDED c'],
    },
  }
  for (const [name, { options, want }] of Object.entries(streamed))
    it(`streams ${name}`, async () => {
      const { client, watch, advance } = setUp()
      for (const each of ['a', 'b']) await client.create(resources.configMaps, aConfigMap(each))
      const frames = await watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', ...options })
      await client.create(resources.configMaps, aConfigMap('c'))
      await advance(20)
      expect(frames).toEqual(want)
    })

  const refusedStreams: Record<string, { options: RequestOptions; want: number }> = {
    'initial events without a match': { options: { sendInitialEvents: true }, want: 422 },
    'initial events of an exact version': { options: { sendInitialEvents: true, resourceVersionMatch: 'Exact' }, want: 422 },
    'a match without initial events': { options: { resourceVersionMatch: 'NotOlderThan' }, want: 422 },
    'a resource version that is no number': { options: { resourceVersion: 'x' }, want: 500 },
  }
  for (const [name, { options, want }] of Object.entries(refusedStreams))
    it(`refuses ${name} with ${want}`, async () => expect((await refusal(setUp().watch(options))).code).toBe(want))

  it('ends a stream of initial events at a future version with an error', async () => {
    const { watch, advance } = setUp()
    const frames = await watch({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', resourceVersion: '99999' })
    await advance(20)
    expect(frames).toEqual(['ERROR 504 Timeout', 'end closed'])
  })

  it('omits changes before the given version, even a future one', async () => {
    const { client, watch, advance, server } = setUp()
    const frames = await watch({ resourceVersion: String(server.revision() + 1) })
    for (const name of ['a', 'b']) await client.create(resources.configMaps, aConfigMap(name))
    await advance(20)
    expect(frames).toEqual(['ADDED b'])
  })

  it('delays each event within the bounds, in order, deterministically for a seed', async () => {
    const run = async (seed: number): Promise<readonly number[]> => {
      const { server, clock } = aServer({ seed, watchDelayMs: { min: 5, max: 15 } })
      const client = server.clientFor(tester)
      const atMs: number[] = []
      const sink = { frame: (): void => void atMs.push(clock.monotonicMs()), end: (): void => {} }
      await server.watch({ actor: tester, resource: resources.configMaps }, sink)
      for (let index = 0; index < 20; index++) {
        await client.create(resources.configMaps, aConfigMap(`m-${index}`))
        await clock.advanceAsync(1)
      }
      await clock.advanceAsync(15)
      return atMs
    }
    const first = await run(7)
    expect(first).toHaveLength(20)
    expect(first.every((ms, index) => ms >= index + 5 && ms <= index + 15.001)).toBe(true)
    expect(first.toSorted((a, b) => a - b)).toEqual(first)
    expect(await run(7)).toEqual(first)
    expect(await run(8)).not.toEqual(first)
  })

  it('delivers nothing after it was stopped', async () => {
    const { server, clock } = aServer()
    const frames: WatchFrame[] = []
    const watching = await server.watch(
      { actor: tester, resource: resources.configMaps },
      { frame: (frame) => frames.push(frame), end: () => {} },
    )
    await server.clientFor(tester).create(resources.configMaps, aConfigMap('a'))
    watching.stop()
    await clock.advanceAsync(1000)
    expect([frames, clock.pendingTimers]).toEqual([[], 0])
  })
})

function setUp(resource: ResourceId = resources.configMaps, historySize = 1000) {
  const { server, clock } = aServer({ historySize })
  async function list(options: RequestOptions): Promise<ApiList> {
    const result = await server.handle({ actor: tester, verb: 'list', resource, options })
    if (result.kind !== 'list') throw new Error('no list')
    return result.list
  }
  async function watch(options: RequestOptions): Promise<string[]> {
    const seen: string[] = []
    await server.watch(
      { actor: tester, resource, options },
      { frame: (frame) => seen.push(frameText(frame)), end: (how) => seen.push(`end ${how}`) },
    )
    return seen
  }
  return { server, clock, list, watch, client: server.clientFor(tester), advance: (ms: number) => clock.advanceAsync(ms) }
}

function token(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url')
}

function frameText(frame: WatchFrame): string {
  if (frame.type === 'ERROR') return `ERROR ${frame.object.code} ${frame.object.reason}`
  if (frame.type !== 'BOOKMARK') return `${frame.type} ${frame.object.metadata.name}`
  const { resourceVersion, annotations } = frame.object.metadata
  return `BOOKMARK ${resourceVersion}${annotations?.['k8s.io/initial-events-end'] === 'true' ? ' end' : ''}`
}

function namesOf(list: ApiList): readonly string[] {
  return list.items.map((item) => item.metadata.name)
}
