import { systemClock } from '@tranche/clock'
import { createKubeClient, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator, type Simulator } from '@tranche/sim'
import { resources } from '@tranche/sim-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { watchEvents } from '../src/cluster/events-watch.ts'

let simulator: Simulator
beforeEach(async () => {
  simulator = createSimulator({ clock: systemClock, nodes: 0, watchDelayMs: 0 })
  await simulator.clientFor({ name: 'admin' }).create(resources.namespaces, { metadata: { name: 'demo' } })
})
afterEach(() => simulator.stop())

describe('events that a tenant writes', () => {
  it('use no more memory than those of events.k8s.io, even if the API server accepts longer ones', async () => {
    const exchange = simulator.exchangeFor('tranche-api')
    const client = createKubeClient({ exchange, clock: systemClock, userAgent: 'tranche-api/test', log: silentLogger })
    const write = (name: string, message: string, about: string): Promise<unknown> =>
      simulator.clientFor({ name: 'admin' }).create(resources.events, {
        metadata: { name, namespace: 'demo' },
        involvedObject: { kind: 'Rollout', name: about, namespace: 'demo' },
        reason: 'r'.repeat(50_000),
        message,
        type: 'Normal',
      } as never)
    await write('long', `${'m'.repeat(1_022)}😀${'m'.repeat(1_000_000)}`, 'agent')
    await write('named', 'short', 'x'.repeat(100_000))
    const events = watchEvents({ client, clock: systemClock, log: silentLogger, seed: 0 })
    const running = events.start()
    await events.whenSynced()
    const [kept, ...more] = events.store.list()
    expect(more).toEqual([])
    expect(kept?.report).toMatchObject({ reason: `${'r'.repeat(127)}…`, message: `${'m'.repeat(1_022)}…`, object: 'Rollout/agent' })
    events.stop()
    await running
    expect(await client.list(resourcePaths.events, { namespace: 'demo' })).toMatchObject({ items: { length: 2 } })
  })
})
