/**
 * Runs one release in virtual time: a DaemonSet on N simulated nodes, controller and executor, five steps, a tenth of the nodes at a time.
 * Prints one JSON object, {@link VirtualRelease}.
 *
 *   node scripts/bench/virtual-release.ts 5000
 */
import { customResourceDefinitions } from '../../packages/words/api-schema/src/index.ts'
import { VirtualClock } from '../../packages/words/clock/src/index.ts'
import { createKubeClient, type KubeClient, resourcePaths } from '../../packages/adapters/kube-client/src/index.ts'
import { silentLogger } from '../../packages/words/telemetry/src/index.ts'
import { createInProcessQueue } from '../../packages/ports/queue/src/index.ts'
import { createSimulator } from '../../packages/simulator/sim/src/index.ts'
import { startController } from '../../apps/controller/src/index.ts'
import { startExecutor } from '../../apps/executor/src/index.ts'

/** Cost of a release, from the start of the process. */
export interface VirtualRelease {
  readonly seconds: number
  /** Processor time of all threads, from the first node to the end of the release. */
  readonly busySeconds: number
  /** Writes that the API server accepted; each is a watch event. */
  readonly events: number
  /** Peak memory of the process. */
  readonly rssMebibytes: number
  /** Largest status of the BatchRelease, which contains the record, in bytes as JSON. */
  readonly releaseBytes: number
  /** The same of the Rollout. */
  readonly rolloutBytes: number
}

const key = { namespace: 'bench', name: 'agent' }
const labels = { app: key.name }
const demoAnnotations = { 'sim.tranche.dev/start-ms': '1000', 'sim.tranche.dev/jitter-ms': '2000', 'sim.tranche.dev/stop-ms': '500' }
const LONGEST_MS = 3_600_000

console.log(JSON.stringify(await play(Number(process.argv[2]))))
process.exit(0)

async function play(nodes: number): Promise<VirtualRelease> {
  const clock = new VirtualClock()
  const atStart = process.cpuUsage()
  let events = 0
  const simulator = createSimulator({ clock, nodes })
  const largest = { BatchRelease: 0, Rollout: 0 }
  simulator.server.observe(({ kind, object }) => {
    events++
    if (kind === 'BatchRelease' || kind === 'Rollout')
      largest[kind] = Math.max(largest[kind], JSON.stringify(object['status'] ?? {}).length)
  })
  await simulator.start()
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'bench', log: silentLogger })
  const queue = createInProcessQueue({ clock })
  const programOptions = { clock, log: silentLogger, queue }
  await during(clock, install(client))
  startController({
    ...programOptions,
    exchange: simulator.exchangeFor('tranche-controller'),
    identity: 'controller',
    admission: 'none',
    leaderElection: false,
  })
  startExecutor({ ...programOptions, exchange: simulator.exchangeFor('tranche-executor'), identity: 'executor' })

  await waitUntil(clock, client, ({ phase, available }) => phase === 'Healthy' && available === nodes)
  await during(clock, setImage(client))
  await waitUntil(clock, client, ({ phase, updated, step }) => phase === 'Healthy' && updated === nodes && step === 'Completed')
  const { user, system } = process.cpuUsage(atStart)
  return {
    seconds: performance.now() / 1000,
    busySeconds: (user + system) / 1e6,
    events,
    rssMebibytes: process.resourceUsage().maxRSS / 1024,
    releaseBytes: largest.BatchRelease,
    rolloutBytes: largest.Rollout,
  }
}

async function install(client: KubeClient): Promise<void> {
  for (const definition of customResourceDefinitions) await client.create(resourcePaths.customResourceDefinitions, definition)
  await client.create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: key.namespace } })
  await client.create(resourcePaths.daemonSets, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: key,
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
      template: {
        metadata: { labels, annotations: demoAnnotations },
        spec: { tolerations: [{ operator: 'Exists' }], containers: [{ name: 'agent', image: 'registry.example/agent:v1' }] },
      },
    },
  })
  const steps = ['5%', '20%', '50%', '75%', '100%'].map((replicas) => ({ replicas, pause: { duration: 1 } }))
  await client.create(resourcePaths.rollouts, {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: key,
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: key.name }, strategy: { canary: { steps } } },
  })
}

async function setImage(client: KubeClient): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: 'registry.example/agent:v2' }] } } } }
  await client.patch(resourcePaths.daemonSets, key, { type: 'strategic', body })
}

interface Standing {
  readonly phase: string | undefined
  readonly step: string | undefined
  readonly available: number | undefined
  readonly updated: number | undefined
}

interface Statuses {
  readonly status?: {
    readonly phase?: string
    readonly currentStepState?: string
    readonly numberAvailable?: number
    readonly updatedNumberScheduled?: number
  }
}

/** Checks once per second of virtual time. */
async function waitUntil(clock: VirtualClock, client: KubeClient, isReached: (standing: Standing) => boolean): Promise<void> {
  while (clock.monotonicMs() < LONGEST_MS) {
    await clock.run({ untilMs: clock.monotonicMs() + 1_000 })
    if (isReached(await during(clock, read(client)))) return
  }
  throw new Error('the release did not end within an hour of virtual time')
}

async function read(client: KubeClient): Promise<Standing> {
  const { status: rollout } = await client.get<Statuses>(resourcePaths.rollouts, key)
  const { status: daemonSet } = await client.get<Statuses>(resourcePaths.daemonSets, key)
  return {
    phase: rollout?.phase,
    step: rollout?.currentStepState,
    available: daemonSet?.numberAvailable,
    updated: daemonSet?.updatedNumberScheduled,
  }
}

async function during<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isOver = false
  const ended = work.finally(() => (isOver = true))
  ended.catch(() => {})
  await clock.run({ done: () => isOver })
  return ended
}
