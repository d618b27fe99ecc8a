import { expect, it } from 'vitest'
import type { Tracer } from '@tranche/tracing'
import { traceWrites, type WatchedCluster } from '../src/index.ts'

it('shows of each reflector what it shows now, and not what it showed when traces began', () => {
  let connectionChanges = 0
  const reflector = {
    get connectionChanges() {
      return connectionChanges
    },
    subscribe: () => () => {},
  }
  const cluster = {
    daemonSets: reflector,
    batchReleases: reflector,
    rollouts: reflector,
    newest: { daemonSets: {}, batchReleases: {}, rollouts: {} },
  } as unknown as WatchedCluster
  const traced = traceWrites(cluster, { isOn: true } as Tracer)
  connectionChanges = 2
  expect([traced.daemonSets, traced.batchReleases, traced.rollouts].map((one) => one.connectionChanges)).toEqual([2, 2, 2])
})
