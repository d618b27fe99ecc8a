import { VirtualClock } from '@tranche/clock'
import type { AcceptedWrite } from '@tranche/sim-api'
import { expect, it } from 'vitest'
import { killMachines } from '../src/drive-release.ts'
import type { SimulatedCluster } from '../src/simulated-cluster.ts'

it('names the machine that could not be made to fail', async () => {
  const clock = new VirtualClock()
  const reported: ((write: Pick<AcceptedWrite, 'kind' | 'object'>) => void)[] = []
  const observe = (listener: (typeof reported)[number]): (() => void) => {
    reported.push(listener)
    return () => {}
  }
  const kill = (node: string): Promise<void> => (node === 'node-2' ? Promise.reject(new Error('the node is gone')) : Promise.resolve())
  const simulator = { server: { observe }, nodes: { kill } } as unknown as SimulatedCluster['simulator']
  const mishaps = killMachines({ clock, simulator }, { canary: 'new' }, [{ kind: 'Fails', nodes: new Set(['node-1', 'node-2']) }])
  const object = {
    metadata: { labels: { 'controller-revision-hash': 'new' } },
    spec: { nodeName: 'node-1' },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  }
  for (const listener of reported) listener({ kind: 'Pod', object: object as never })
  await clock.run()
  expect(mishaps).toEqual(['not simulated: node-2 could not be made to fail (the node is gone)'])
})
