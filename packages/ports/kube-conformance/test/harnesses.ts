import { randomBytes } from 'node:crypto'
import { systemClock, VirtualClock } from '@tranche/clock'
import { createUndiciExchange, loadKubeConfig } from '@tranche/kube-client'
import type { ClusterHarness } from '@tranche/kube-conformance'
import { createSimulator } from '@tranche/sim'

/** The simulator with three nodes, in virtual time: it passes only while a test waits. */
export async function simulatorHarness(): Promise<ClusterHarness> {
  const clock = new VirtualClock()
  const simulator = createSimulator({ clock, nodes: 3 })
  await simulator.start()
  const exchange = simulator.exchangeFor('admin', 'everything')
  return {
    exchange,
    watchExchange: exchange,
    clock,
    run: 'sim',
    wait: createWait(clock),
    dispose: async () => simulator.stop(),
  }
}

/** Runs the clock while any test waits: tests may wait in parallel. */
function createWait(clock: VirtualClock): ClusterHarness['wait'] {
  let waiting = 0
  let running: Promise<unknown> | undefined
  return async (promise) => {
    waiting++
    running ??= clock.run({ done: () => waiting === 0 }).finally(() => (running = undefined))
    return promise.finally(() => waiting--)
  }
}

/** The cluster of a kubeconfig. */
export async function clusterHarness(kubeconfig: string): Promise<ClusterHarness> {
  const { exchange, watchExchange, close } = createUndiciExchange(await loadKubeConfig({ clock: systemClock, path: kubeconfig }))
  return {
    exchange,
    watchExchange,
    clock: systemClock,
    run: `conformance-${randomBytes(4).toString('hex')}`,
    wait: (promise) => promise,
    dispose: close,
  }
}
