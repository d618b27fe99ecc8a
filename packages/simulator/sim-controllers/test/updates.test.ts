import type { ApiObject } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'
import { type Bench, type BenchOptions, createBench } from './bench.ts'

const five = ['n0', 'n1', 'n2', 'n3', 'n4']

describe('a rolling update, pass by pass', () => {
  it('68 replaces as many pods at a time as maxUnavailable', async () => {
    const bench = await running(rolling(2))
    await bench.setImage('agent:v2')
    expect(await bench.passes(2)).toEqual(['0/2/0', '2/0/0'])
    await bench.setReady(true)
    expect(await bench.passes(2)).toEqual(['0/2/0', '2/0/0'])
    await bench.setReady(true)
    expect(await bench.passes(2)).toEqual(['0/1/0', '1/0/0'])
    await bench.setReady(true)
    expect(await bench.pass()).toBe('0/0/0')
  })

  it('69 stops when the new pods do not become ready', async () => {
    const bench = await running(rolling(3))
    await bench.setImage('agent:v2')
    expect(await bench.passes(4)).toEqual(['0/3/0', '3/0/0', '0/0/0', '0/0/0'])
  })

  it('70 replaces all old pods at once when none is ready', async () => {
    const bench = await running(rolling(3))
    await bench.setReady(false)
    await bench.setImage('agent:v2')
    expect(await bench.passes(3)).toEqual(['0/5/0', '5/0/0', '0/0/0'])
  })

  it('71 deletes only the old pod that is not ready, which uses up the limit', async () => {
    const bench = await running(rolling(1))
    const [unready] = await bench.pods()
    await bench.setReady(false, (pod) => pod.metadata.name === unready!.metadata.name)
    await bench.setImage('agent:v2')
    expect(await bench.pass()).toBe('0/1/0')
    expect((await bench.pods()).map(({ metadata }) => metadata.name)).not.toContain(unready!.metadata.name)
  })

  it('72 does nothing when only the strategy changes', async () => {
    const bench = await running({ type: 'OnDelete' })
    await bench.patch({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } })
    expect(await bench.passes(2)).toEqual(['0/0/0', '0/0/0'])
  })

  it('replaces at most 250 pods in one pass', async () => {
    const nodes = Array.from({ length: 260 }, (_, at) => `n${at}`)
    const bench = await createBench({ nodes, spec: { updateStrategy: rolling(260) } })
    expect(await bench.passes(2)).toEqual(['250/0/0', '10/0/0'])
    await bench.setImage('agent:v2')
    expect(await bench.passes(3)).toEqual(['0/250/0', '250/10/0', '10/0/0'])
  })
})

/** One letter a node: `o` a ready pod, `t` a terminating one, `-` none. */
const limits: readonly [name: string, nodes: string, maxUnavailable: number | string, deleted: number][] = [
  ['73 no nodes', '', 0, 0],
  ['74 two ready pods and 1', 'oo', 1, 1],
  ['75 an empty node and 0, which stands for 1 and is used up', 'o-', 0, 0],
  ['75 two ready pods and 0, which stands for 1', 'oo', 0, 1],
  ['76 half of two', 'oo', '50%', 1],
  ['77 half of three, rounded up, of which a terminating pod uses one', 'oot', '50%', 1],
]

describe('the budget that maxUnavailable leaves', () => {
  it.each(limits)('%s', async (_name, letters, maxUnavailable, deleted) => {
    const pods = [...letters].flatMap((letter, at) => ({ o: [`n${at} old`], t: [`n${at} old terminating`] })[letter] ?? [])
    const bench = await createBench({
      nodes: [...letters].map((_letter, at) => `n${at}`),
      pods,
      spec: { updateStrategy: { type: 'OnDelete' } },
    })
    // With 0 for both the server refuses the DaemonSet; a cluster of an older version may hold one nevertheless.
    const daemonSet = await bench.daemonSet()
    const updateStrategy = rolling(maxUnavailable)
    const deletions = await bench.passWith({ ...daemonSet, spec: { ...daemonSet.spec, updateStrategy } })
    expect(Number(deletions.split('/')[1])).toBe(deleted)
  })
})

describe('a surge, pass by pass', () => {
  it('81 creates as many new pods as maxSurge, and deletes an old one when the new one is ready', async () => {
    const bench = await running(surge(2))
    await bench.setImage('agent:v2')
    expect(await bench.passes(2)).toEqual(['2/0/0', '0/0/0'])
    await bench.setReady(true)
    expect(await bench.passes(2)).toEqual(['2/2/0', '0/0/0'])
    await bench.setReady(true)
    expect(await bench.passes(2)).toEqual(['1/2/0', '0/0/0'])
    await bench.setReady(true)
    expect(await bench.passes(2)).toEqual(['0/1/0', '0/0/0'])
  })

  it('82 exceeds maxSurge where old pods are not ready, and waits for minReadySeconds', async () => {
    const bench = await running(surge(3))
    await bench.setReady(false)
    await bench.setImage('agent:v2')
    expect(await bench.passes(2)).toEqual(['5/0/0', '0/5/0'])
    await bench.patch({ minReadySeconds: 15 })
    await bench.setReady(true)
    await bench.clock.advanceAsync(16_000)
    expect(await bench.pass()).toBe('0/0/0')
    await bench.setImage('agent:v3')
    expect(await bench.pass()).toBe('3/0/0')
    const alone = await aloneOnNode(bench)
    await bench.setReady(false, ({ metadata }) => metadata.name === alone)
    expect(await bench.pass()).toBe('1/0/0')
    await bench.setReady(true, (pod) => imageOf(pod) === 'agent:v3')
    await bench.clock.advanceAsync(14_000)
    // The old pod that is not ready goes as soon as it has a new one beside it.
    expect(await bench.pass()).toBe('0/1/0')
    await bench.clock.advanceAsync(6000)
    expect(await bench.passes(2)).toEqual(['1/3/0', '0/0/0'])
    await bench.setReady(true, (pod) => imageOf(pod) === 'agent:v3')
    await bench.clock.advanceAsync(20_000)
    expect(await bench.passes(2)).toEqual(['0/1/0', '0/0/0'])
  })

  it('105 deletes the newer pods when the strategy becomes OnDelete in the middle', async () => {
    const bench = await running(surge(2))
    await bench.setImage('agent:v2')
    await bench.pass()
    await bench.patch({ updateStrategy: { type: 'OnDelete', rollingUpdate: null } })
    expect(await bench.pass()).toBe('0/2/0')
    expect((await bench.pods()).map(imageOf)).toEqual(five.map(() => 'agent:v1'))
    await bench.patch({ updateStrategy: surge(2) })
    expect(await bench.pass()).toBe('2/0/0')
  })

  it('105 deletes the newer pods, and then an old one, when the strategy changes to maxUnavailable in the middle', async () => {
    const bench = await running(surge(2))
    await bench.setImage('agent:v2')
    await bench.pass()
    await bench.patch({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } })
    expect(await bench.passes(3)).toEqual(['0/3/0', '1/0/0', '0/0/0'])
  })
})

function rolling(maxUnavailable: number | string): object {
  return { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } }
}

function surge(maxSurge: number): object {
  return { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge } }
}

/** Five nodes with ready pods of the first template. */
async function running(updateStrategy: object, options: BenchOptions = {}): Promise<Bench> {
  const bench = await createBench({ nodes: five, ...options, spec: { ...options.spec, updateStrategy } })
  await bench.pass()
  await bench.setReady(true)
  // Age decides between pods, in whole seconds.
  await bench.clock.advanceAsync(1000)
  return bench
}

/** @returns name of a pod that has its node for itself */
async function aloneOnNode(bench: Bench): Promise<string> {
  const pods = await bench.pods()
  const old = pods.filter((pod) => imageOf(pod) === 'agent:v2')
  const joined = new Set(pods.filter((pod) => imageOf(pod) === 'agent:v3').map(nodeOf))
  return old.find((pod) => !joined.has(nodeOf(pod)))!.metadata.name
}

function nodeOf(pod: ApiObject): unknown {
  return JSON.stringify((pod['spec'] as { readonly affinity: unknown }).affinity)
}

function imageOf(pod: ApiObject): string {
  return (pod['spec'] as { readonly containers: readonly { readonly image: string }[] }).containers[0]!.image
}
