import type { WatchedCluster } from '@tranche/cluster'
import type { KubeClient } from '@tranche/kube-client'
import { expect, it } from 'vitest'
import { createRefusalPort } from '../src/ports/refusal-port.ts'

it.each([
  ['leaves the labels of refused revisions as they are while definitions hide which ones are blocked (G12)', 'outdated', 0],
  ['reads which revisions are blocked otherwise', undefined, 1],
])('%s', (_what, gap, reads) => {
  let read = 0
  const rollouts = { get: () => void read++ }
  const cluster = { overlay: { rollouts } } as unknown as WatchedCluster
  const port = createRefusalPort({} as KubeClient, cluster, { gap: () => gap })
  expect(port.read({ namespace: 'demo', name: 'agent' })).toBeNull()
  expect(read).toBe(reads)
})
