import type { BatchRelease, Rollout } from '@tranche/api-schema'
import type { WatchedCluster } from '@tranche/cluster'
import { type DaemonSet, keyText, type KubeObject, type ObjectKey } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { workloadHolder } from '../src/ports/workload-holder.ts'
import { wakeByWatches, type Woken } from '../src/wake.ts'

const many = Array.from({ length: 3_000 }, (_, at) => aRollout(`r-${1_000 + at}`))

describe('of 3,000 Rollouts that name one DaemonSet, only the one that holds it has a pass', () => {
  it.each<[what: string, changes: (bench: Bench) => void]>([
    ['when a node changes', (bench) => bench.change('nodes', undefined, { name: 'node-1' })],
    [
      'when a pod of it changes',
      (bench) => bench.change('pods', undefined, { metadata: { namespace: 'demo', name: 'pod' }, ownerUid: 'uid-agent' }),
    ],
    [
      'when a revision of it is created',
      (bench) =>
        bench.change('revisions', undefined, {
          metadata: { namespace: 'demo', name: 'rev', ownerReferences: [{ controller: true, kind: 'DaemonSet', uid: 'uid-agent' }] },
        }),
    ],
    ['when it changes itself', (bench) => bench.set('daemonSets', aDaemonSet(), aDaemonSet({ generation: 2 }))],
  ])('%s', (_what, changes) => {
    const bench = aBench({ rollouts: many, daemonSets: [aDaemonSet()] })
    changes(bench)
    expect(bench.rollouts()).toEqual(['demo/r-1000'])
  })

  it('when another one is created', () => {
    const bench = aBench({ rollouts: many, daemonSets: [aDaemonSet()] })
    bench.set('rollouts', undefined, aRollout('r-9999'))
    expect(bench.rollouts()).toEqual(['demo/r-9999'])
  })
})

describe('every Rollout that names a DaemonSet has a pass', () => {
  const three = ['r-1', 'r-2', 'r-3'].map((name) => aRollout(name))
  const all = ['demo/r-1', 'demo/r-2', 'demo/r-3']

  it.each<[what: string, changes: (bench: Bench) => void]>([
    ['when the one that holds it is disabled', (bench) => bench.set('rollouts', three[0], aRollout('r-1', { disabled: true }))],
    ['when the one that holds it is deleted', (bench) => bench.set('rollouts', three[0], undefined)],
    ['when the one that holds it names another', (bench) => bench.set('rollouts', three[0], aRollout('r-1', { workload: 'other' }))],
    ['when it is bound to another', (bench) => bench.set('daemonSets', aDaemonSet(), aDaemonSet({ rollout: 'r-3' }))],
    ['when it is deleted', (bench) => bench.set('daemonSets', aDaemonSet(), undefined)],
    ['when OpenKruise’s controller starts', (bench) => bench.kruise()],
  ])('%s', (_what, changes) => {
    const bench = aBench({ rollouts: three, daemonSets: [aDaemonSet()] })
    changes(bench)
    expect(bench.rollouts()).toEqual(all)
  })

  it('when an older one that was disabled is enabled', () => {
    const older = aRollout('a', { disabled: true })
    const bench = aBench({ rollouts: [...three, older], daemonSets: [aDaemonSet()] })
    bench.set('rollouts', older, aRollout('a'))
    expect(bench.rollouts()).toEqual(['demo/a', ...all])
  })

  it('but not when one that does not hold it is deleted', () => {
    const bench = aBench({ rollouts: three, daemonSets: [aDaemonSet()] })
    bench.set('rollouts', three[1], undefined)
    expect(bench.rollouts()).toEqual(['demo/r-2'])
  })
})

describe('a change of a node wakes', () => {
  it('the Rollout that the DaemonSet is bound to, although it names another now', () => {
    const rollouts = [aRollout('former', { workload: 'other' }), aRollout('holder')]
    const bench = aBench({ rollouts, daemonSets: [aDaemonSet({ rollout: 'former' })] })
    bench.change('nodes', undefined, { name: 'node-1' })
    expect(bench.rollouts()).toEqual(['demo/former', 'demo/holder'])
  })

  it('a Rollout that has a BatchRelease for the DaemonSet, although another one holds it', () => {
    const rollouts = [aRollout('holder'), aRollout('releasing')]
    const bench = aBench({ rollouts, daemonSets: [aDaemonSet()], batchReleases: [aRelease('releasing')] })
    bench.change('nodes', undefined, { name: 'node-1' })
    expect([bench.rollouts(), bench.releases()]).toEqual([['demo/holder', 'demo/releasing'], ['demo/releasing']])
  })

  it('of many BatchReleases for one DaemonSet the one in control, and those that have permits', () => {
    const batchReleases = [...Array.from({ length: 1_000 }, (_, at) => aRelease(`b-${at}`)), aRelease('flying', 1)]
    const bench = aBench({ daemonSets: [aDaemonSet({ control: 'b-7' })], batchReleases })
    bench.change('nodes', undefined, { name: 'node-1' })
    expect(bench.releases()).toEqual(['demo/b-7', 'demo/flying'])
  })

  it.each([undefined, 'gone'])('all BatchReleases for a DaemonSet that none of them controls (%s)', (control) => {
    const bench = aBench({ daemonSets: [aDaemonSet({ control })], batchReleases: [aRelease('b-1'), aRelease('b-2')] })
    bench.change('nodes', undefined, { name: 'node-1' })
    expect(bench.releases()).toEqual(['demo/b-1', 'demo/b-2'])
  })
})

describe('the Rollout that holds a DaemonSet', () => {
  const key = { namespace: 'demo', name: 'agent' }
  const holder = (rollouts: readonly Rollout[], boundTo?: string): string | undefined =>
    workloadHolder(aBench({ rollouts }).cluster, key, boundTo)?.metadata.name

  it.each<[what: string, rollouts: readonly Rollout[], boundTo: string | undefined, name: string | undefined]>([
    ['is the oldest', [aRollout('a', { createdAt: '2026-01-02' }), aRollout('b', { createdAt: '2026-01-01' })], undefined, 'b'],
    ['is the first by name of equally old ones', [aRollout('b'), aRollout('a')], undefined, 'a'],
    ['is the one that the DaemonSet is bound to, however young', [aRollout('a'), aRollout('b')], 'b', 'b'],
    ['is no disabled one, although the DaemonSet is bound to it', [aRollout('a', { disabled: true }), aRollout('b')], 'a', 'b'],
    ['is none that names another, although the DaemonSet is bound to it', [aRollout('a', { workload: 'other' }), aRollout('b')], 'a', 'b'],
    ['is none that is being deleted', [aRollout('a', { deletedAt: '2026-01-03' }), aRollout('b')], undefined, 'b'],
    ['is none of a workload of another kind', [aRollout('a', { kind: 'CloneSet' })], undefined, undefined],
  ])('%s', (_what, rollouts, boundTo, name) => {
    expect(holder(rollouts, boundTo)).toBe(name)
  })

  it('is found without reading all Rollouts again while none of them has changed', () => {
    let reads = 0
    const rollout = aRollout('a')
    const counted = {
      metadata: rollout.metadata,
      get spec() {
        reads++
        return rollout.spec
      },
    } as Rollout
    const { cluster } = aBench({ rollouts: [counted, aRollout('b')] })
    workloadHolder(cluster, key, undefined)
    reads = 0
    expect([workloadHolder(cluster, key, undefined)?.metadata.name, reads]).toEqual(['a', 0])
  })
})

interface Bench {
  readonly cluster: WatchedCluster
  /** Changes an object of the watch. */
  set(kind: 'rollouts' | 'daemonSets', previous: KubeObject | undefined, current: KubeObject | undefined): void
  /** Reports a change of what no case reads. */
  change(kind: 'nodes' | 'pods' | 'revisions', previous: undefined, current: object): void
  kruise(): void
  /** Keys of Rollouts that were woken. */
  rollouts(): readonly string[]
  releases(): readonly string[]
}

interface Objects {
  readonly rollouts?: readonly Rollout[]
  readonly daemonSets?: readonly DaemonSet[]
  readonly batchReleases?: readonly BatchRelease[]
}

type Change = (key: ObjectKey, previous: unknown, current: unknown) => void

function aBench({ rollouts = [], daemonSets = [], batchReleases = [] }: Objects): Bench {
  const watches = {
    rollouts: aWatch(rollouts, { workload: namedBy }),
    daemonSets: aWatch(daemonSets, { rollout: ({ metadata }) => textOf(metadata.annotations?.['tranche.dev/rollout']) }),
    batchReleases: aWatch(batchReleases, { workload: namedBy, group: () => '' }),
    nodes: aWatch<KubeObject>([], {}),
    pods: aWatch<KubeObject>([], {}),
    revisions: aWatch<KubeObject>([], {}),
    policies: aWatch<KubeObject>([], {}),
  }
  let kruise = (): void => {}
  const cluster = { ...watches, kruise: { subscribe: (changed: () => void) => void (kruise = changed) } } as unknown as WatchedCluster
  const woken = { rollout: new Set<string>(), release: new Set<string>() }
  wakeByWatches(cluster, wokenInto(woken))
  return {
    cluster,
    set: (kind, previous, current) => watches[kind].set(previous as never, current as never),
    change: (kind, previous, current) => watches[kind].changed(keyIn(current), previous, current),
    kruise: () => kruise(),
    rollouts: () => [...woken.rollout].sort(),
    releases: () => [...woken.release].sort(),
  }
}

function wokenInto({ rollout, release }: { readonly rollout: Set<string>; readonly release: Set<string> }): Woken {
  const none = (): void => {}
  const wakeRollout = (key: string): void => void rollout.add(key)
  const wakeRelease = (key: string): void => void release.add(key)
  return {
    rollout: wakeRollout,
    rolloutSoon: wakeRollout,
    release: wakeRelease,
    releaseSoon: wakeRelease,
    notify: none,
    analysis: none,
    policy: none,
  }
}

/** A watch whose arrays stay the same until an object changes, like those of a reflector. */
function aWatch<T extends KubeObject>(objects: readonly T[], indexers: Readonly<Record<string, (object: T) => string>>) {
  let listed = objects
  let indexed = new Map<string, readonly T[]>()
  const subscribers: Change[] = []
  const changed: Change = (...change) => subscribers.forEach((subscriber) => subscriber(...change))
  return {
    store: {
      list: () => listed,
      get: (key: ObjectKey) => listed.find((one) => keyText(keyIn(one)) === keyText(key)),
      byIndex(index: string, value: string) {
        const text = `${index} ${value}`
        const found = indexed.get(text) ?? listed.filter((one) => indexers[index]?.(one) === value)
        indexed.set(text, found)
        return found
      },
    },
    subscribe: ({ onChange }: { onChange: Change }) => void subscribers.push(onChange),
    changed,
    set(previous: T | undefined, current: T | undefined) {
      listed = [...listed.filter((one) => one !== previous), ...(current === undefined ? [] : [current])]
      indexed = new Map()
      changed(keyIn(current ?? previous ?? {}), previous, current)
    },
  }
}

function keyIn(object: object): ObjectKey {
  const { metadata } = object as Partial<KubeObject>
  return { namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' }
}

function namedBy({ spec }: Rollout | BatchRelease): string {
  return textOf(spec.workloadRef?.name)
}

function textOf(name: string | undefined): string {
  return name === undefined ? '' : `demo/${name}`
}

interface RolloutFields {
  readonly workload?: string
  readonly kind?: string
  readonly disabled?: boolean
  readonly createdAt?: string
  readonly deletedAt?: string
}

function aRollout(
  name: string,
  { workload = 'agent', kind = 'DaemonSet', disabled = false, createdAt = '2026-01-01', deletedAt }: RolloutFields = {},
): Rollout {
  const generation = disabled || workload !== 'agent' ? 2 : 1
  const metadata = { namespace: 'demo', name, uid: `uid-${name}`, generation, creationTimestamp: createdAt, deletionTimestamp: deletedAt }
  return { metadata, spec: { workloadRef: { apiVersion: 'apps/v1', kind, name: workload }, disabled } } as never
}

interface DaemonSetFields {
  readonly generation?: number
  /** Rollout that it is bound to. */
  readonly rollout?: string
  /** BatchRelease that controls it. */
  readonly control?: string | undefined
}

function aDaemonSet({ generation = 1, rollout, control }: DaemonSetFields = {}): DaemonSet {
  const annotations = {
    ...(rollout !== undefined && { 'tranche.dev/rollout': rollout }),
    ...(control !== undefined && {
      'batchrelease.rollouts.kruise.io/control-info': JSON.stringify({ name: control, uid: `uid-${control}` }),
    }),
  }
  return {
    metadata: { namespace: 'demo', name: 'agent', uid: 'uid-agent', generation, annotations },
    spec: { template: {} },
    status: {},
  } as never
}

function aRelease(name: string, permits = 0): BatchRelease {
  const status = { flight: { state: 'open', permits: Array.from({ length: permits }, () => ({})) } }
  return {
    metadata: { namespace: 'demo', name, uid: `uid-${name}` },
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' } },
    status,
  } as never
}
