import { FakeClock } from '@tranche/clock'
import { bodyText } from '@tranche/wire'
import { describe, expect, it } from 'vitest'
import { headlampExchange } from '../src/headlamp/headlamp-exchange.ts'
import { createNamespaceStore, namespacesIn } from '../src/headlamp/namespace-store.ts'
import { baseOf, urlBelow } from '../src/headlamp/plugin-path.ts'
import { releasedRollout } from '../src/headlamp/released-rollout.ts'
import type { ReadRelease } from '../src/reading/read-release.ts'
import { createReleaseCache, FRESH_MS } from '../src/reading/release-cache.ts'

describe('the exchange of Headlamp', () => {
  const request = { method: 'GET', path: '/api/v1/pods', headers: { accept: 'application/json', 'user-agent': 'x' } }
  const { signal } = new AbortController()
  const failing = (error: unknown): Promise<unknown> =>
    headlampExchange({ clusterRequest: () => Promise.reject(error) }, 'demo')(request, signal)

  it('asks the cluster that it was made for, and never signs the user out', async () => {
    const sent: unknown[] = []
    const clusterRequest = async (...all: unknown[]): Promise<Response> => {
      sent.push(...all)
      return Response.json({})
    }
    expect(await headlampExchange({ clusterRequest }, 'demo')(request, signal)).toMatchObject({ status: 200 })
    expect(sent).toEqual([
      '/api/v1/pods',
      { method: 'GET', headers: { accept: 'application/json' }, signal, cluster: 'demo', isJSON: false, autoLogoutOnAuthError: false },
    ])
  })

  it.each([
    ['/apis/a/v1/b/c', '/apis/a/v1/b/c?fieldManager=tranche-cli'],
    ['/apis/a/v1/b/c?dryRun=All', '/apis/a/v1/b/c?dryRun=All&fieldManager=tranche-cli'],
  ])('names the field manager of a write, because Headlamp sends its own user agent: %s', async (path, sent) => {
    let asked = ''
    const clusterRequest = async (url: string): Promise<Response> => {
      asked = url
      return Response.json({})
    }
    const write = { method: 'PATCH', path, headers: { 'user-agent': 'tranche-cli/0.1.0' } }
    await headlampExchange({ clusterRequest }, 'demo')(write, signal)
    expect(asked).toBe(sent)
  })

  it.each([
    ['GET', 404, 'NotFound'],
    ['GET', 403, 'Forbidden'],
    ['PATCH', 409, 'Conflict'],
    ['POST', 409, 'AlreadyExists'],
    ['PATCH', 422, 'Invalid'],
    ['GET', 410, 'Expired'],
  ])('makes an answer of the error of a %s with %i: %s', async (method, status, reason) => {
    const clusterRequest = (): Promise<never> => Promise.reject(Object.assign(new Error('said'), { status }))
    const answer = await headlampExchange({ clusterRequest }, 'demo')({ ...request, method }, signal)
    expect([answer.status, JSON.parse(await bodyText(answer))]).toMatchObject([
      status,
      { kind: 'Status', code: status, reason, message: 'said' },
    ])
  })

  it.each([502, 408])('takes %i for no answer: Headlamp makes it up', async (status) => {
    await expect(failing(Object.assign(new Error('Unreachable'), { status }))).rejects.toThrow('Unreachable')
  })

  it('refuses a watch without asking', async () => {
    const clusterRequest = (): Promise<never> => Promise.reject(new Error('asked'))
    const watch = { ...request, path: '/api/v1/pods?watch=true&resourceVersion=1' }
    expect(await headlampExchange({ clusterRequest }, 'demo')(watch, signal)).toMatchObject({ status: 403 })
  })
})

describe('the pages of Headlamp', () => {
  it.each([
    ['/c/demo/tranche', '/c/demo/tranche'],
    ['/c/demo/tranche/rollouts/a/b', '/c/demo/tranche'],
    ['/c/two+clusters/daemonsets/a/b', '/c/two+clusters/tranche'],
  ])('are below the cluster of %s: %s', (pathname, base) => expect(baseOf(pathname)).toBe(base))

  it('have URLs without a slash at the end', () => {
    expect(['', '?namespace=a', 'record?b=c'].map((path) => urlBelow('/c/demo/tranche', path))).toEqual([
      '/c/demo/tranche',
      '/c/demo/tranche?namespace=a',
      '/c/demo/tranche/record?b=c',
    ])
  })

  const metadata = { namespace: 'demo', name: 'agent' }
  it.each([
    ['a Rollout of OpenKruise', 'Rollout', 'rollouts.kruise.io/v1beta1', {}, metadata],
    ['no Rollout of Argo', 'Rollout', 'argoproj.io/v1alpha1', {}, null],
    [
      'a DaemonSet that a Rollout releases',
      'DaemonSet',
      'apps/v1',
      { 'tranche.dev/rollout': 'other' },
      { namespace: 'demo', name: 'other' },
    ],
    ['no other DaemonSet', 'DaemonSet', 'apps/v1', {}, null],
    ['no other kind', 'Pod', 'v1', { 'tranche.dev/rollout': 'other' }, null],
  ])('show the release of %s', (_what, kind, apiVersion, annotations, rollout) => {
    expect(releasedRollout({ kind, cluster: 'demo', jsonData: { apiVersion, metadata: { ...metadata, annotations } } })).toEqual(rollout)
  })

  it('remember the namespaces of each cluster', () => {
    const memory = new Map<string, string>()
    const storage = {
      getItem: (name: string) => memory.get(name) ?? null,
      setItem: (name: string, value: string) => void memory.set(name, value),
      removeItem: (name: string) => void memory.delete(name),
    }
    let changes = 0
    const store = createNamespaceStore('demo', storage)
    store.subscribe(() => (changes += 1))
    expect(store.snapshot()).toBeNull()
    store.choose(namespacesIn(' b, a  b '))
    expect([store.snapshot(), changes]).toEqual([['b', 'a'], 1])
    expect(createNamespaceStore('demo', storage).snapshot()).toEqual(['b', 'a'])
    expect(createNamespaceStore('other', storage).snapshot()).toBeNull()
    store.choose(null)
    expect(memory.size).toBe(0)
  })
})

describe('the cache of releases', () => {
  const key = { namespace: 'demo', name: 'agent' }

  it('reads once for all who ask within moments, and again afterwards, after a write and after a failure', async () => {
    const clock = new FakeClock()
    let reads = 0
    let failure: Error | null = null
    const cache = createReleaseCache(async () => {
      reads += 1
      if (failure !== null) throw failure
      return {} as ReadRelease
    }, clock)
    await Promise.all([cache.get(key), cache.get(key)])
    await cache.get(key)
    expect(reads).toBe(1)
    clock.advance(FRESH_MS + 1)
    await cache.get(key)
    expect(reads).toBe(2)
    cache.forget(key)
    failure = new Error('no')
    await expect(cache.get(key)).rejects.toThrow('no')
    failure = null
    await cache.get(key)
    expect(reads).toBe(4)
  })
})
