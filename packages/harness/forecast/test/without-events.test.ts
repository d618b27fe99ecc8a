import { VirtualClock } from '@tranche/clock'
import { createSimulator } from '@tranche/sim'
import { type FaultInjector, resources, type SimClient } from '@tranche/sim-api'
import { expect, it } from 'vitest'
import { withoutEvents } from '../src/without-events.ts'

const key = { name: 'agent', namespace: 'default' }

it('drops the events of the named controllers, and does not change their other writes', async () => {
  expect(await played(undefined)).toEqual({ bound: 3, writers: ['daemonset-controller', 'default-scheduler'] })
  expect(await played(withoutEvents(['default-scheduler']))).toEqual({ bound: 3, writers: ['daemonset-controller'] })
  expect(await played(withoutEvents(['daemonset-controller', 'default-scheduler']))).toEqual({ bound: 3, writers: [] })
})

/** A DaemonSet comes up on three nodes. @returns how many pods are bound, and who has written events */
async function played(faults: FaultInjector | undefined): Promise<{ readonly bound: number; readonly writers: readonly string[] }> {
  const clock = new VirtualClock()
  const simulator = createSimulator({ clock, nodes: 3 })
  simulator.server.useFaults(faults)
  await simulator.start()
  const admin = simulator.clientFor({ name: 'admin' })
  const labels = { app: key.name }
  const spec = {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a:v1' }] } },
  }
  await admin.create(resources.daemonSets, { metadata: key, spec } as never)
  await clock.run({ untilMs: 30_000 })
  const bound = (await listed(admin, 'pods')).filter((pod) => pod.spec?.nodeName !== undefined).length
  const writers = new Set((await listed(admin, 'events')).map(({ source }) => source?.component ?? ''))
  simulator.stop()
  return { bound, writers: [...writers].toSorted() }
}

interface Listed {
  readonly spec?: { readonly nodeName?: string }
  readonly source?: { readonly component?: string }
}

async function listed(client: SimClient, what: 'pods' | 'events'): Promise<readonly Listed[]> {
  return (await client.list(resources[what], { namespace: key.namespace })).items as readonly Listed[]
}
