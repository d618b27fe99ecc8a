import { type ApiClient, ApiProblemError } from '@tranche/api-client'
import type { StreamMessage } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import { describe, expect, it } from 'vitest'
import { createLiveConnection } from '../src/live/live-connection.ts'
import { createNodeStore } from '../src/live/node-store.ts'
import { createReleaseStore } from '../src/live/release-store.ts'
import { summary } from './builders.ts'

type Options = Parameters<ApiClient['stream']>[0]

/** A stream that the test drives. */
function started() {
  const opened: (Options & { readonly fail: (error: unknown) => void; readonly send: (message: StreamMessage) => void })[] = []
  const api: Pick<ApiClient, 'stream'> = {
    async *stream(options) {
      let next = Promise.withResolvers<StreamMessage>()
      options.signal.addEventListener('abort', () => next.reject(options.signal.reason))
      opened.push({
        ...options,
        fail: (error) => next.reject(error),
        send(message) {
          const { resolve } = next
          next = Promise.withResolvers()
          next.promise.catch(() => {})
          resolve(message)
        },
      })
      for (;;) yield await next.promise
    },
  }
  let nowMs = 1_000
  let signedOut = 0
  const releases = createReleaseStore((callback) => callback())
  const nodes = createNodeStore()
  const clock = new FakeClock()
  const live = createLiveConnection({ api, clock, releases, nodes, nowMs: () => nowMs, onSignedOut: () => signedOut++ })
  return { live, opened, clock, releases, nodes, signedOut: () => signedOut, setTime: (ms: number) => void (nowMs = ms) }
}
const turn = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('the stream of a tab', () => {
  it('is live once open, and complete once the server says so', async () => {
    const { live, opened, releases } = started()
    live.open()
    expect(releases.snapshot().live).toEqual({ kind: 'connecting' })
    opened[0]!.onOpen!()
    opened[0]!.send({ type: 'rollout', rollout: summary() })
    await turn()
    opened[0]!.onComplete!()
    expect(releases.snapshot()).toMatchObject({ live: { kind: 'live' }, isComplete: true })
    expect(releases.snapshot().rollouts.size).toBe(1)
  })

  it('takes no message that was on its way when another stream began', async () => {
    const { live, opened, releases } = started()
    live.open()
    opened[0]!.onOpen!()
    opened[0]!.send({ type: 'rollout', rollout: summary() })
    await turn()
    const before = releases.snapshot().rollouts
    opened[0]!.send({ type: 'gone', namespace: summary().namespace, name: summary().name })
    live.showNodes(summary())
    await turn()
    expect(releases.snapshot().rollouts).toBe(before)
  })

  it('reports its data as stale since the server last confirmed them, also with another stream, and one that opens', () => {
    const { live, opened, releases, setTime } = started()
    live.open()
    opened[0]!.onOpen!()
    setTime(5_000)
    opened[0]!.onCurrent!()
    setTime(60_000)
    opened[0]!.onLost!(new Error('the connection was reset'))
    expect(releases.snapshot().live).toEqual({ kind: 'reconnecting', staleSinceMs: 5_000, why: 'the connection was reset' })
    live.showNodes({ namespace: 'demo', name: 'agent' })
    opened[1]!.onOpen!()
    opened[1]!.onLost!(new Error('the stream sent nothing'))
    expect(releases.snapshot().live).toEqual({ kind: 'reconnecting', staleSinceMs: 5_000, why: 'the stream sent nothing' })
  })

  it('ends with a sign-out if the server no longer accepts the credentials', async () => {
    const { live, opened, releases, signedOut } = started()
    live.open()
    opened[0]!.fail(new ApiProblemError('GET /api/v1/stream', { status: 401, body: '', retryAfter: null }))
    await turn()
    expect([releases.snapshot().live.kind, signedOut()]).toEqual(['ended', 1])
  })

  it('ends without a sign-out if the server refuses it for another reason', async () => {
    const { live, opened, releases, signedOut } = started()
    live.open()
    opened[0]!.fail(new ApiProblemError('GET /api/v1/stream', { status: 403, body: '', retryAfter: null }))
    await turn()
    expect([releases.snapshot().live.kind, signedOut()]).toEqual(['ended', 0])
  })

  it('continues without the nodes if the right to them is withdrawn', async () => {
    const { live, opened, releases } = started()
    live.showNodes({ namespace: 'demo', name: 'agent' })
    live.open()
    opened[0]!.fail(new ApiProblemError('GET /api/v1/stream', { status: 403, body: '', retryAfter: null }))
    await turn()
    opened[1]!.onOpen!()
    expect([opened[1]!.nodes, releases.snapshot().live.kind]).toEqual([undefined, 'live'])
  })

  it('runs once: other nodes replace it, and the same nodes do not', () => {
    const { live, opened, clock } = started()
    live.showNodes({ namespace: 'demo', name: 'early' })
    live.open()
    live.showNodes({ namespace: 'demo', name: 'early' })
    live.showNodes({ namespace: 'demo', name: 'agent' })
    live.showNodes(null)
    clock.advance(2_000)
    expect(opened.map(({ nodes, signal }) => [nodes?.name, signal.aborted])).toEqual([
      ['early', true],
      ['agent', true],
      [undefined, false],
    ])
  })

  it('stays with its nodes when the next page shows the same, and changes once when it shows others', () => {
    const { live, opened, nodes, clock } = started()
    live.showNodes({ namespace: 'demo', name: 'agent' })
    live.open()
    nodes.apply({ type: 'nodes', namespace: 'demo', name: 'agent', reset: true, nodes: [], gone: [] })
    live.showNodes(null)
    clock.advance(1_000)
    live.showNodes({ namespace: 'demo', name: 'agent' })
    clock.advance(10_000)
    expect([opened.length, nodes.snapshot().nodes]).toEqual([1, new Map()])
    live.showNodes(null)
    live.showNodes({ namespace: 'demo', name: 'logs' })
    clock.advance(10_000)
    expect(opened.map(({ nodes: shown }) => shown?.name)).toEqual(['agent', 'logs'])
    expect(nodes.snapshot()).toEqual({ rollout: 'demo/logs', nodes: undefined })
  })

  it('resumes with other nodes from the position of the stream before', () => {
    const { live, opened } = started()
    live.open()
    opened[0]!.position!.lastEventId = 'digest.7'
    live.showNodes({ namespace: 'demo', name: 'agent' })
    expect(opened[1]!.position).toEqual({ lastEventId: 'digest.7' })
  })

  it('ends when the page is left', () => {
    const { live, opened } = started()
    live.open()()
    expect(opened[0]!.signal.aborted).toBe(true)
  })
})
