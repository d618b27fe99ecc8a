import { FakeClock } from '@tranche/clock'
import { createSharedClusterCache, type SharedClusterCache } from '@tranche/cluster'
import { createKubeClient, type KubeClient, type KubeClientOptions, resourcePaths } from '@tranche/kube-client'
import { JSON_LEVELS_MAX, nestsDeeperThan } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { afterEach, beforeEach, expect, it } from 'vitest'

const deep = `${'{"a":'.repeat(9_900)}{}${'}'.repeat(9_900)}`
const metadata = '{"namespace":"tenant","name":"x","uid":"u","resourceVersion":"5"}'
const release = `{"metadata":${metadata},"spec":{},"status":{"stableTemplate":{"revision":"r","template":${deep}}}}`
let ending: AbortController
beforeEach(() => void (ending = new AbortController()))
afterEach(() => ending.abort(new Error('over')))

/** Lists one BatchRelease; every watch ends at once, because its version is too old. */
const exchange: KubeClientOptions['exchange'] = async ({ path }) => {
  const isWatch = path.includes('watch=true')
  const items = path.includes('/batchreleases') ? release : ''
  const text = isWatch
    ? '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n'
    : `{"metadata":{"resourceVersion":"5"},"items":[${items}]}`
  return {
    status: 200,
    headers: {},
    body: (async function* () {
      yield text
    })(),
  }
}

it.each([
  ['cut by the client', (client: KubeClient) => client],
  ['not cut', withoutCut],
])('a deep template in the status of a BatchRelease, %s, ends no watch when the watches list again', async (_what, over) => {
  const clock = new FakeClock()
  const client = createKubeClient({ exchange, clock, userAgent: 'test/1', log: silentLogger })
  const cache = createSharedClusterCache({ client: over(client), clock, log: silentLogger })
  const failed: unknown[] = []
  cache.start(ending.signal, (error) => failed.push(error))
  for (let round = 0; cache.batchReleases.listsDone < 3 && round < 200; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(1_000)
  }
  expect(failed).toEqual([])
  expect(cache.batchReleases.listsDone).toBeGreaterThanOrEqual(3)
  expect(stored(cache)).toMatchObject({ status: { stableTemplate: { revision: 'r', template: { a: {} } } } })
  expect(nestsDeeperThan(JSON_LEVELS_MAX, stored(cache))).toBe(over === withoutCut)
})

function stored({ batchReleases }: SharedClusterCache): unknown {
  return batchReleases.store.get({ namespace: 'tenant', name: 'x' })
}

/** A client that keeps the deep template, as one without the boundary would. */
function withoutCut(client: KubeClient): KubeClient {
  return {
    ...client,
    list: (resource, options) =>
      client.list(resource, {
        ...options,
        transform: (object) => {
          const whole = resource === resourcePaths.batchReleases ? (JSON.parse(release) as typeof object) : object
          return (options?.transform ?? ((one) => one as never))(whole)
        },
      }),
  }
}
