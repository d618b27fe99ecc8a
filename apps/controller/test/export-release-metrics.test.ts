import type { Rollout } from '@tranche/api-schema'
import { FakeClock } from '@tranche/clock'
import type { WatchedCluster } from '@tranche/cluster'
import { FleetIndex } from '@tranche/fleet'
import type { DaemonSet } from '@tranche/kube-types'
import { createMetrics, type Metrics } from '@tranche/metrics'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { beforeEach, describe, expect, it } from 'vitest'
import { exportReleaseMetrics } from '../src/metrics/export-release-metrics.ts'
import { followDownTime } from '../src/metrics/follow-down-time.ts'

type OnChange = (key: unknown, previous: unknown, current: unknown) => void

const CONTROL = 'batchrelease.rollouts.kruise.io/control-info'
const daemonSet: DaemonSet = {
  metadata: {
    ...{ namespace: 'demo', name: 'agent', uid: 'd1', resourceVersion: '1', generation: 1 },
    annotations: { [CONTROL]: '{"apiVersion":"rollouts.kruise.io/v1beta1","kind":"BatchRelease","name":"agent","uid":"r1"}' },
  },
  spec: { template: {}, updateStrategy: { type: 'OnDelete' } },
}
const rollout = (name: string, fields: object = {}): Rollout =>
  ({
    metadata: { namespace: 'demo', name, uid: name, resourceVersion: '1' },
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }, strategy: { canary: { steps: [] } } },
    status: { phase: 'Progressing', conditions: [] },
    ...fields,
  }) as unknown as Rollout

let clock: FakeClock
let metrics: Metrics
beforeEach(async () => {
  clock = new FakeClock()
  metrics = await createMetrics({ clock, log: silentLogger, version: '0' })
})

/** A cluster with these Rollouts of one DaemonSet; `views` counts how often the fleet was read. */
function clusterOf(rollouts: readonly Rollout[]) {
  const handlers: Record<string, OnChange> = {}
  const kind = (name: string, list: readonly unknown[] = []) => ({
    subscribe: ({ onChange }: { readonly onChange: OnChange }) => void (handlers[name] = onChange),
    store: { list: () => list, byIndex: () => [], get: () => list[0] },
  })
  const fleet = new FleetIndex()
  const counts = { views: 0 }
  const release = { status: { flight: { permits: [{ podUid: 'other' }] } } }
  const overlay = { batchReleases: { get: ({ name }: { readonly name: string }) => (name === 'agent' ? release : undefined) } }
  const cluster = {
    ...{ rollouts: kind('rollouts', rollouts), batchReleases: kind('batchReleases'), daemonSets: kind('daemonSets', [daemonSet]) },
    ...{ revisions: kind('revisions'), pods: kind('pods'), nodes: kind('nodes'), overlay },
    fleet: { view: (owner: DaemonSet) => (counts.views++, fleet.view(owner)) },
  }
  return { cluster: cluster as unknown as WatchedCluster, handlers, counts }
}

const stepTimes = async (): Promise<readonly string[]> =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith('tranche_step_seconds_count'))

describe('a scrape', () => {
  it('reads each release once, for all gauges, and scrapes within a second read none', async () => {
    const { cluster, counts } = clusterOf([rollout('a'), rollout('b')])
    exportReleaseMetrics({ metrics, cluster, clock, log: silentLogger, schemas: { gap: () => undefined }, isLeading: () => true })
    await Promise.all([metrics.text(), metrics.text()])
    clock.advance(999)
    await metrics.text()
    expect(counts.views).toBe(2)
    clock.advance(1)
    await metrics.text()
    expect(counts.views).toBe(4)
  })

  it('leaves out a release that cannot be reported, logs it once, and exports the others', async () => {
    const broken = rollout('broken', { spec: { workloadRef: { name: 'agent' } } })
    const { cluster } = clusterOf([broken, rollout('good')])
    const lines: unknown[] = []
    const log: Logger = { ...silentLogger, error: ({ object }) => void lines.push(object) }
    exportReleaseMetrics({ metrics, cluster, clock, log, schemas: { gap: () => undefined }, isLeading: () => true })
    await metrics.text()
    clock.advance(1_000)
    const text = await metrics.text()
    expect(text).toContain('tranche_release_permits{rollout="demo/good"}')
    expect(text).not.toContain('demo/broken')
    expect(lines).toEqual(['demo/broken'])
  })
})

it('a step whose time in the status is none is not measured', async () => {
  const { cluster, handlers } = clusterOf([])
  exportReleaseMetrics({ metrics, cluster, clock, log: silentLogger, schemas: { gap: () => undefined }, isLeading: () => true })
  const at = (lastUpdateTime: string): Rollout =>
    rollout('a', { status: { canaryStatus: { lastUpdateTime, currentStepState: 'StepPaused', canaryRevision: 'v2', finalisingStep: '' } } })
  const key = { namespace: 'demo', name: 'a' }
  const times = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00x0Z', '2026-01-01T00:00:00Z', '2026-01-01T00:00:09Z'].map(at)
  for (const [index, current] of times.entries()) if (index > 0) handlers['rollouts']!(key, times[index - 1], current)
  expect(await stepTimes()).toEqual(['tranche_step_seconds_count{state="StepPaused"} 1'])
})

it('nothing is remembered of the nodes of a DaemonSet that is gone', () => {
  const { cluster, handlers } = clusterOf([])
  const seen: string[] = []
  followDownTime({ metrics: { ...metrics, observe: (name) => void seen.push(name) }, cluster, clock, isLeading: () => true })
  const pod = (ready: boolean) => ({ namespace: 'demo', ownerUid: 'd1', node: 'n1', uid: 'p', ready, terminating: false })
  handlers['pods']!(null, pod(true), pod(false))
  handlers['daemonSets']!(null, daemonSet, undefined)
  // Only what is still remembered is measured.
  handlers['pods']!(null, pod(false), pod(true))
  expect(seen).toEqual([])
})
