import { type KubeClient, KubeStatusError, type ResourcePath } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { readSnapshot } from '@tranche/release-client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const key = { namespace: 'demo', name: 'agent' }
const unhandled: unknown[] = []
const onUnhandled = (error: unknown): void => void unhandled.push(error)

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', onUnhandled)
})
afterEach(() => {
  process.off('unhandledRejection', onUnhandled)
})

describe('reading a snapshot for a forecast', () => {
  it('names the resources that may not be read, in any order of the responses', async () => {
    const accounts = Promise.withResolvers<never>()
    const snapshot = readSnapshot(clusterWith({ serviceaccounts: accounts.promise, resourcequotas: refused(403) }), key, { nowMs: 0 })
    await aTurn()
    accounts.reject(error(404))
    expect((await snapshot).unread).toEqual(['service accounts, which does not exist', 'quotas, which may not be read'])
    expect(unhandled).toEqual([])
  })

  it('fails if the API server fails, and leaves no unhandled rejection', async () => {
    const cluster = clusterWith({ serviceaccounts: refused(500), resourcequotas: refused(500), limitranges: refused(500) })
    await expect(readSnapshot(cluster, key, { nowMs: 0 })).rejects.toMatchObject({ code: 'API_REFUSED' })
    await aTurn()
    expect(unhandled).toEqual([])
  })
})

it('reports a missing Rollout', async () => {
  const cluster = { get: async () => refused(404) } as unknown as KubeClient
  await expect(readSnapshot(cluster, key, { nowMs: 0 })).rejects.toMatchObject({ code: 'ROLLOUT_NOT_FOUND' })
})

/** A Rollout and its DaemonSet, and of lists what is given. */
function clusterWith(lists: Readonly<Record<string, Promise<never>>>): KubeClient {
  const metadata = { ...key, uid: 'uid', resourceVersion: '1' }
  const object = { metadata, spec: { workloadRef: { name: 'agent' }, selector: {}, template: {} } } as KubeObject
  return {
    get: async () => object,
    list: async ({ plural }: ResourcePath) => (await lists[plural]) ?? { items: [] },
  } as unknown as KubeClient
}

/** Rejects before any caller can await it. */
async function refused(status: number): Promise<never> {
  throw error(status)
}

function error(status: number): KubeStatusError {
  return new KubeStatusError({ attempt: 'GET /', status })
}

/** Node.js reports unhandled rejections only when it is idle. */
async function aTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
