import { VirtualClock } from '@tranche/clock'
import type { RecordedDelivery } from '@tranche/recording'
import { describe, expect, it } from 'vitest'
import { createSimulator } from '@tranche/sim'
import { resources } from '@tranche/sim-api'
import { bodyText } from '@tranche/wire'
import { createProcess } from '../scenarios/process.ts'
import { recordTaken } from './record-taken.ts'

describe('a recorded delivery', () => {
  it('is a list, with its version, once a watch continues it', async () => {
    const { get, watch, taken, version } = setUp()
    await get('/api/v1/namespaces/default/configmaps')
    expect(taken).toEqual([])
    watch().stop()
    expect(taken).toEqual([{ t: expect.any(Number), to: 'reader', of: 'configmaps', rv: version() }])
  })

  it('is no list that the process reads for one decision, while its watch is behind', async () => {
    const { get, watch, taken, create, version } = setUp()
    const path = '/api/v1/namespaces/default/configmaps'
    await get(path)
    const first = version()
    await create('a')
    await get(path)
    watch(first).stop()
    expect(taken.map(({ rv }) => rv)).toEqual([first])
  })

  it('is only the last page of a list, with the version of the first page', async () => {
    const { get, watch, taken, create, version } = setUp()
    for (const name of ['a', 'b', 'c']) await create(name)
    const first = version()
    const { metadata } = JSON.parse(await get('/api/v1/namespaces/default/configmaps?limit=2')) as ListShape
    expect(taken).toEqual([])
    await create('d')
    await get(`/api/v1/namespaces/default/configmaps?limit=2&continue=${encodeURIComponent(metadata.continue!)}`)
    watch(first).stop()
    expect(taken.map(({ rv }) => rv)).toEqual([first])
  })

  it.each(['labelSelector=app%3Dagent', 'fieldSelector=metadata.name%3Da'])('is no list of a part of the resource: %s', async (part) => {
    const { get, taken } = setUp()
    await get(`/api/v1/namespaces/default/configmaps?${part}`)
    expect(taken).toEqual([])
  })

  it('is neither a single object nor a refused request', async () => {
    const { get, taken, create } = setUp()
    await create('a')
    await get('/api/v1/namespaces/default/configmaps/a')
    await get('/api/v1/nothings')
    expect(taken).toEqual([])
  })

  it('is an event at the time when the process reads it, and ignores text in annotations', async () => {
    const { watch, taken, create, version, clock } = setUp()
    const watching = watch()
    await clock.run({ untilMs: 10 })
    await create('a', { quoted: '{"metadata":{"resourceVersion":"999999"}}' })
    await clock.run({ untilMs: 100 })
    expect(taken.map(({ t, rv }) => [t, rv])).toEqual([[30, version()]])
    watching.stop()
  })

  it('is each of several events that arrive at once, because the process may decide something between two of them', async () => {
    const { watch, taken, create, version, process, clock } = setUp()
    const watching = watch()
    await clock.run({ untilMs: 10 })
    process.freeze()
    for (const name of ['a', 'b', 'c']) await create(name)
    await clock.run({ untilMs: 1_000 })
    process.thaw()
    await clock.run({ untilMs: 1_001 })
    const last = version()
    expect(taken.map(({ t, rv }) => [t, rv])).toEqual([last - 2, last - 1, last].map((rv) => [1_000, rv]))
    watching.stop()
  })

  it('is not an event that is still in the socket of a frozen process', async () => {
    const { watch, taken, create, process, clock } = setUp()
    const watching = watch()
    await clock.run({ untilMs: 10 })
    process.freeze()
    await create('a')
    await clock.run({ untilMs: 10_000 })
    expect(taken).toEqual([])
    process.thaw()
    await clock.run({ untilMs: 10_001 })
    expect(taken.map(({ t }) => t)).toEqual([10_000])
    watching.stop()
  })

  it('is not an event that a process finds in its socket after it has ended the watch', async () => {
    const { watch, taken, create, process, clock } = setUp()
    const watching = watch()
    await clock.run({ untilMs: 10 })
    process.freeze()
    await create('a')
    await clock.run({ untilMs: 10_000 })
    watching.stop()
    process.thaw()
    await clock.run({ untilMs: 20_000 })
    expect(taken).toEqual([])
  })
})

interface ListShape {
  readonly metadata: { readonly continue?: string }
}

/** Nothing runs in the cluster except the test; events take 20 ms. */
function setUp() {
  const clock = new VirtualClock()
  const simulator = createSimulator({ clock, nodes: 0, watchDelayMs: { min: 20, max: 20 } })
  const fromMs = clock.nowMs()
  const taken: RecordedDelivery[] = []
  const process = createProcess(clock, simulator.exchangeFor('reader'))
  const exchange = recordTaken(process.exchange, 'reader', clock, (delivery) => taken.push({ ...delivery, t: delivery.t - fromMs }))
  const writer = simulator.clientFor({ name: 'writer', groups: ['system:masters'] })

  async function get(path: string): Promise<string> {
    return bodyText(await exchange({ method: 'GET', path, headers: {} }, new AbortController().signal))
  }

  return {
    clock,
    process,
    taken,
    get,
    version: () => simulator.server.revision(),
    create: (name: string, annotations = {}) =>
      writer.create(resources.configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', annotations } }),
    watch(from = simulator.server.revision()) {
      let isOver = false
      const path = `/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=${from}`
      void (async () => {
        const { body } = await exchange({ method: 'GET', path, headers: {} }, new AbortController().signal)
        for await (const _ of body) if (isOver) return
      })()
      return { stop: () => void (isOver = true) }
    },
  }
}
