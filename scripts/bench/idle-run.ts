/**
 * Counts the requests of idle programs in virtual time: many DaemonSets with a Rollout, nothing to do. Prints one JSON object,
 * {@link IdleRun}.
 *
 *   node scripts/bench/idle-run.ts 1000
 */
import { customResourceDefinitions } from '../../packages/words/api-schema/src/index.ts'
import { VirtualClock } from '../../packages/words/clock/src/index.ts'
import { createKubeClient, type KubeClient, resourcePaths } from '../../packages/adapters/kube-client/src/index.ts'
import type { Node } from '../../packages/words/kube-types/src/index.ts'
import { createInProcessQueue } from '../../packages/ports/queue/src/index.ts'
import { createSimulator } from '../../packages/simulator/sim/src/index.ts'
import { silentLogger } from '../../packages/words/telemetry/src/index.ts'
import type { Exchange } from '../../packages/words/wire/src/index.ts'
import { requestKind } from '../../test/scenarios/costs/release-costs.ts'
import { drive } from '../../test/scenarios/stage.ts'
import { startController } from '../../apps/controller/src/index.ts'
import { startExecutor } from '../../apps/executor/src/index.ts'

/** Requests of the idle programs. */
export interface IdleRun {
  readonly rollouts: number
  /** Requests per minute by program, verb and resource: `controller PUT leases`. */
  readonly perMinute: Readonly<Record<string, number>>
  /** Timers of programs and simulator at rest. */
  readonly timers: number
}

const MINUTES = 60
/** A node takes 110 pods. */
const PODS_PER_NODE = 100

console.log(JSON.stringify(await measure(Number(process.argv[2] ?? 1_000))))
process.exit(0)

async function measure(rollouts: number): Promise<IdleRun> {
  const clock = new VirtualClock()
  const nodes = Math.ceil(rollouts / PODS_PER_NODE)
  const simulator = createSimulator({ clock, nodes })
  await simulator.start()
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'bench', log: silentLogger })
  await drive(clock, furnish(client, rollouts, nodes))
  let counts: Record<string, number> = {}
  const counted = (program: string): Exchange => {
    const exchange = simulator.exchangeFor(`tranche-${program}`)
    return (request, signal) => {
      const name = `${program} ${requestKind(request)}`
      counts[name] = (counts[name] ?? 0) + 1
      return exchange(request, signal)
    }
  }
  const options = { clock, log: silentLogger, queue: createInProcessQueue({ clock }) }
  startController({ ...options, exchange: counted('controller'), identity: 'controller', admission: 'none', leaderElection: true })
  startExecutor({ ...options, exchange: counted('executor'), identity: 'executor' })
  await pass(clock, 15)
  counts = {}
  await pass(clock, MINUTES)
  const perMinute = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count / MINUTES]))
  return { rollouts, perMinute, timers: clock.pendingTimers() }
}

async function pass(clock: VirtualClock, minutes: number): Promise<void> {
  await clock.run({ untilMs: clock.monotonicMs() + minutes * 60_000 })
}

/** Each DaemonSet has a pod on one node. */
async function furnish(client: KubeClient, rollouts: number, nodes: number): Promise<void> {
  for (const definition of customResourceDefinitions) await client.create(resourcePaths.customResourceDefinitions, definition)
  await client.create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } })
  const names = (await client.list<Node>(resourcePaths.nodes)).items.map(({ metadata }) => metadata.name)
  for (let index = 0; index < rollouts; index++) {
    const metadata = { namespace: 'bench', name: `agent-${index}` }
    const labels = { app: metadata.name }
    const nodeSelector = { 'kubernetes.io/hostname': names[index % nodes] }
    const containers = [{ name: 'agent', image: 'registry.example/agent:v1' }]
    await client.create(resourcePaths.daemonSets, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata,
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { nodeSelector, containers } } },
    } as never)
    await client.create(resourcePaths.rollouts, {
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'Rollout',
      metadata,
      spec: {
        workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: metadata.name },
        strategy: { canary: { steps: [{ replicas: '10%', pause: {} }, { replicas: '100%' }] } },
      },
    } as never)
  }
}
