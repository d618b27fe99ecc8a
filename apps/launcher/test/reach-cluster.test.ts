import { FakeClock } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import { KubeStatusError, type LoadedCluster } from '@tranche/kube-client'
import type { Logger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { reachCluster } from '../src/processes/reach-cluster.ts'

const late = new AppError('API_DEADLINE', 'GET /version was not answered within 5000 ms')

describe('a process that starts before its API server', () => {
  const cluster = { server: 'https://10.0.0.1:6443', context: 'production' } as LoadedCluster

  it('waits for it, and logs that', async () => {
    const { clock, lines, parts } = process(late, late, '{}')
    const reached = reachCluster(cluster, parts)
    await clock.advanceAsync(3_000)
    await reached
    expect(lines).toEqual([
      ['warn', 'the API server did not answer', { ...cluster, err: late, retryAfterMs: 1_000 }],
      ['warn', 'the API server did not answer', { ...cluster, err: late, retryAfterMs: 2_000 }],
      ['info', 'the API server answered', cluster],
    ])
  })

  it.each([
    ['does not know it', 401, 'error'],
    ['forbids it everything', 403, 'error'],
    ['has too much to do', 429, 'warn'],
    ['starts', 503, 'warn'],
  ])('waits for one that %s, and logs whether the user must fix it', async (_, status, level) => {
    const answer = new KubeStatusError({ status, reason: '', message: 'no', attempt: 'GET /version' })
    const { clock, lines, parts } = process(answer, '{}')
    const reached = reachCluster(cluster, parts)
    await clock.advanceAsync(1_000)
    await reached
    const fields = { ...cluster, err: answer, retryAfterMs: 1_000 }
    const [words, hint] =
      level === 'warn'
        ? ['the API server did not answer', {}]
        : ['cannot authenticate with the API server', { hint: expect.stringContaining('credentials') as unknown }]
    expect(lines).toEqual([
      [level, words, { ...fields, ...hint }],
      ['info', 'the API server answered', cluster],
    ])
  })

  it('logs nothing if it answers at once', async () => {
    const { lines, parts } = process('{}')
    await reachCluster(cluster, parts)
    expect(lines).toEqual([])
  })

  it('ends on the abort signal', async () => {
    const { parts, stop } = process(late)
    const reached = reachCluster(cluster, parts)
    stop.abort()
    await expect(reached).resolves.toBeUndefined()
  })

  function process(...given: readonly (AppError | string)[]) {
    const clock = new FakeClock()
    const stop = new AbortController()
    const lines: unknown[] = []
    const level = (name: string) => (fields: object, message: string) => void lines.push([name, message, fields])
    const log = { error: level('error'), warn: level('warn'), info: level('info') } as unknown as Logger
    return { clock, stop, lines, parts: { client: { text: answers(...given) }, clock, log, signal: stop.signal } }
  }
})

/** @returns gives these one after the other, and the last of them again and again */
function answers(...given: readonly (AppError | string)[]): () => Promise<string> {
  let at = 0
  return async () => {
    const answer = given[Math.min(at++, given.length - 1)]
    if (answer instanceof AppError) throw answer
    return answer ?? ''
  }
}
