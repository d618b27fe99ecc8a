import { ApiStatusError, resources } from '@tranche/sim-api'
import { StaleCacheError } from '@tranche/sim-controllers'
import { describe, expect, it } from 'vitest'
import { createBench, type Gate } from './bench.ts'

const hundred = Array.from({ length: 100 }, (_, at) => `n${at}`)
const forbidden = new ApiStatusError(403, 'Forbidden', 'pods is forbidden: exceeded quota')
const broken = (message: string): ApiStatusError => new ApiStatusError(500, 'InternalError', message)

describe('pods that fail', () => {
  it('41 are deleted at once, then after 1 s, 2 s and so on, and left alone meanwhile', async () => {
    const bench = await createBench({ nodes: ['n0'], spec: { updateStrategy: { type: 'OnDelete' } } })
    await bench.pass()
    await bench.admin.delete(resources.pods, (await bench.pods())[0]!.metadata.name, 'demo')
    await bench.addPods('n0 failed')
    expect(await bench.pass()).toBe('0/1/1')
    await bench.addPods('n0 failed')
    bench.later.splice(0)
    expect(await bench.passes(2)).toEqual(['0/0/0', '0/0/0'])
    expect(bench.later).toEqual([
      ['demo/agent', 1000],
      ['demo/agent', 1000],
    ])
    await bench.clock.advanceAsync(999)
    expect(await bench.pass()).toBe('0/0/0')
    await bench.clock.advanceAsync(1)
    expect(await bench.pass()).toBe('0/1/1')
    await bench.addPods('n0 failed')
    bench.later.splice(0)
    expect(await bench.pass()).toBe('0/0/0')
    expect(bench.later).toEqual([['demo/agent', 2000]])
  })

  it('41 restart the back-off with a new observed generation', async () => {
    const bench = await createBench({ nodes: ['n0'], pods: ['n0 failed'], spec: { updateStrategy: { type: 'OnDelete' } } })
    expect(await bench.pass()).toBe('0/1/1')
    await bench.addPods('n0 failed')
    await bench.patch({ minReadySeconds: 1 })
    // The key has the generation of the status, which this pass raises at its end.
    expect(await bench.passes(2)).toEqual(['0/0/0', '0/1/1'])
  })
})

describe('creations that fail', () => {
  it('47 end the batches: ten pods, fifteen requests, and the status reports that', async () => {
    const bench = await createBench({ nodes: hundred, gate: refusingAfter(10) })
    await expect(bench.pass()).rejects.toBe(forbidden)
    expect(await bench.pods()).toHaveLength(10)
    expect(bench.requests.filter((request) => request === 'create pods')).toHaveLength(15)
    expect((await bench.daemonSet()).status).toMatchObject({
      desiredNumberScheduled: 100,
      currentNumberScheduled: 10,
      updatedNumberScheduled: 10,
      observedGeneration: 1,
    })
  })

  it('48 are no longer expected', async () => {
    const bench = await createBench({ nodes: hundred, gate: refusingAfter(10) })
    await bench.pass().catch(() => {})
    expect(bench.expectations.satisfied('demo/agent')).toBe(true)
  })

  it('in a terminating namespace are silent, and are awaited', async () => {
    const causes = [{ reason: 'NamespaceTerminating', message: 'the namespace is being terminated' }]
    const going = new ApiStatusError(403, 'Forbidden', 'namespace demo is being terminated', { causes })
    const bench = await createBench({
      nodes: ['n0'],
      gate: (verb, { resource }) => failWhen(verb === 'create' && resource === 'pods', going),
    })
    expect(await bench.pass()).toBe('0/0/0')
    expect(bench.expectations.satisfied('demo/agent')).toBe(false)
  })
})

describe('an unobserved write', () => {
  it('50 is forgotten with the DaemonSet: another of the same name gets its pods', async () => {
    const bench = await createBench({ nodes: ['n0'], lagging: true })
    expect(await bench.pass()).toBe('1/0/0')
    bench.expectations.expect('demo/agent', 1, 0)
    await bench.admin.delete(resources.pods, (await bench.pods())[0]!.metadata.name, 'demo')
    const { metadata, spec } = await bench.daemonSet()
    await bench.admin.delete(resources.daemonSets, 'agent', 'demo')
    await bench.settle()
    expect(bench.expectations.satisfied('demo/agent')).toBe(true)
    const again = { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: metadata.name, namespace: 'demo' }, spec }
    await bench.admin.create(resources.daemonSets, again)
    expect(await bench.pass()).toBe('1/0/0')
  })

  it('delays the update while creations are expected, and the observed generation', async () => {
    const bench = await createBench({ nodes: ['n0'], pods: ['n0 old'] })
    bench.expectations.expect('demo/agent', 1, 0)
    await bench.patch({ minReadySeconds: 1 })
    expect(await bench.pass()).toBe('0/0/0')
    expect((await bench.daemonSet()).status).toMatchObject({ observedGeneration: 1, desiredNumberScheduled: 1 })
  })

  it.each(['pods', 'daemonSets'] as const)('ends the pass before it starts, for %s', async (resource) => {
    const bench = await createBench({ nodes: ['n0'] })
    await bench.pass()
    const daemonSet = await bench.daemonSet()
    if (resource === 'pods') bench.ports.ownWrites.podWritten(daemonSet, '999999')
    else bench.ports.ownWrites.statusWritten(daemonSet, '999999')
    const before = bench.requests.length
    await expect(bench.pass()).rejects.toBeInstanceOf(StaleCacheError)
    expect(bench.requests).toHaveLength(before)
  })

  it('does not delay another DaemonSet under the same name, nor anything for longer than five minutes', async () => {
    const bench = await createBench({ nodes: ['n0'] })
    await bench.pass()
    const daemonSet = await bench.daemonSet()
    bench.ports.ownWrites.podWritten(daemonSet, '999999')
    bench.ports.ownWrites.forget('demo/agent', 'another')
    await expect(bench.pass()).rejects.toBeInstanceOf(StaleCacheError)
    bench.ports.ownWrites.forget('demo/agent', daemonSet.metadata.uid)
    expect(await bench.pass()).toBe('0/0/0')
    bench.ports.ownWrites.podWritten(daemonSet, '999999')
    await bench.clock.advanceAsync(300_001)
    expect(await bench.pass()).toBe('0/0/0')
  })
})

describe('the status', () => {
  it('92 counts ready pods at once', async () => {
    const bench = await createBench({ nodes: ['n0', 'n1'] })
    await bench.pass()
    expect((await bench.daemonSet()).status).toMatchObject({ numberReady: 0 })
    await bench.setReady(true)
    await bench.pass()
    expect((await bench.daemonSet()).status).toMatchObject({ numberReady: 2 })
  })

  it('93 observes the generation', async () => {
    const bench = await createBench({ nodes: ['n0'] })
    await bench.pass()
    expect((await bench.daemonSet()).status).toMatchObject({ observedGeneration: 1 })
  })

  it('94 counts the pods of the same pass', async () => {
    const bench = await createBench({ nodes: hundred.slice(0, 5) })
    await bench.pass()
    expect((await bench.daemonSet()).status).toMatchObject({ currentNumberScheduled: 5 })
  })

  it.each<[name: string, failing: readonly string[], want: string]>([
    ['the pass, when it fails', ['create pods'], 'create pods failed'],
    ['the status, when it fails', ['update daemonsets'], 'update daemonsets failed'],
    ['the pass, when both fail', ['create pods', 'update daemonsets'], 'create pods failed'],
  ])('95 reports the error of %s', async (_name, failing, want) => {
    const bench = await createBench({
      nodes: ['n0'],
      gate(verb, { resource }) {
        const request = `${verb} ${resource}`
        failWhen(failing.includes(request), broken(`${request} failed`))
      },
    })
    await expect(bench.pass()).rejects.toThrow(want)
  })

  it.each<[name: string, failures: number, getFails: boolean, updates: number, gets: number, want: string]>([
    ['is written once', 0, false, 1, 0, 'written'],
    ['is written again on a fresh copy', 1, false, 2, 1, 'written'],
    ['is given up after the second', 2, false, 2, 1, 'update failed'],
    ['is given up when there is no fresh copy', 1, true, 1, 1, 'get failed'],
  ])('96 %s', async (_name, failures, getFails, updates, gets, want) => {
    let left = failures
    const bench = await createBench({
      nodes: ['n0'],
      gate(verb, { resource }) {
        if (resource !== 'daemonsets') return
        failWhen(verb === 'update' && left-- > 0, broken('update failed'))
        failWhen(verb === 'get' && getFails, broken('get failed'))
      },
    })
    const outcome = await bench.pass().then(
      () => 'written',
      (error: unknown) => (error as Error).message,
    )
    const count = (request: string): number => bench.requests.filter((one) => one === request).length
    expect([outcome, count('update daemonsets'), count('get daemonsets')]).toEqual([want, updates, gets])
  })

  it('uses only the first pod of a node: an old pod hides the new one beside it', async () => {
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
    const bench = await createBench({ nodes: ['n0'], pods: ['n0 old', 'n0 unready'], spec: { updateStrategy } })
    await bench.pass()
    expect((await bench.daemonSet()).status).toMatchObject({ numberReady: 1, currentNumberScheduled: 1 })
    expect((await bench.daemonSet()).status).not.toHaveProperty('updatedNumberScheduled')
  })
})

describe('the history', () => {
  it('45 keeps the revision of a failed pod that is terminating', async () => {
    const spec = { revisionHistoryLimit: 0, updateStrategy: { type: 'OnDelete' } }
    const bench = await createBench({ nodes: ['n0'], pods: ['n0 failed terminating'], spec })
    await bench.setImage('agent:v2')
    await bench.passes(2)
    const { items } = await bench.admin.list(resources.controllerRevisions, { namespace: 'demo' })
    expect(items.map((one) => one['revision'])).toEqual([1, 2])
  })
})

function refusingAfter(most: number): Gate {
  let created = 0
  return (verb, { resource }) => failWhen(verb === 'create' && resource === 'pods' && ++created > most, forbidden)
}

function failWhen(condition: boolean, error: Error): void {
  if (condition) throw error
}
