/**
 * Measures on the real clock how soon everything stops when a new version fails. Simulator, controller and executor run in one process. The
 * version runs for 150 ms and then crashes, while four of forty nodes are replaced at a time. The release is then stopped, replaced by a
 * good version, and the next round begins. Prints one JSON object, {@link FailureStop}.
 *
 *   node scripts/bench/failure-stop.ts 40
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { customResourceDefinitions, type Rollout } from '../../packages/words/api-schema/src/index.ts'
import { systemClock } from '../../packages/words/clock/src/index.ts'
import { createKubeClient, type KubeClient, resourcePaths } from '../../packages/adapters/kube-client/src/index.ts'
import { silentLogger } from '../../packages/words/telemetry/src/index.ts'
import { createInProcessQueue } from '../../packages/ports/queue/src/index.ts'
import type { RecordedDelivery, RecordedWrite } from '../../packages/simulator/recording/src/index.ts'
import { createSimulator, recordEntries } from '../../packages/simulator/sim/src/index.ts'
import { startController } from '../../apps/controller/src/index.ts'
import { startExecutor } from '../../apps/executor/src/index.ts'
import { daemonSetManifest, imageOf, policyManifest, rolloutManifest, stageKey } from '../../test/scenarios/stage-objects.ts'

/** Results of all rounds, in milliseconds. */
export interface FailureStop {
  readonly rounds: number
  /** From the delivery of the event to the executor until the last deletion that the server accepts; 0 if none follows. */
  readonly lastDeleteP99Ms: number
  /** From the status of the pod to the status of the BatchRelease that holds the release. */
  readonly acknowledgedP50Ms: number
  readonly acknowledgedP99Ms: number
  /** From the status of the pod to the status of the Rollout. */
  readonly reportedP99Ms: number
}

const NODES = 40
const settings = { 'start-ms': '40', 'jitter-ms': '40', 'stop-ms': '20', 'late-ms': '150' }
const options = {
  maxUnavailable: 4,
  steps: [{ replicas: '100%' }],
  policy: { soak: { final: '0s' } },
  annotations: Object.fromEntries(Object.entries(settings).map(([name, value]) => [`sim.tranche.dev/${name}`, value])),
}

console.log(JSON.stringify(await play(Number(process.argv[2] ?? 40))))
process.exit(0)

async function play(rounds: number): Promise<FailureStop> {
  const clock = systemClock
  const writes: RecordedWrite[] = []
  const deliveries: RecordedDelivery[] = []
  const simulator = createSimulator({ clock, nodes: NODES, watchDelayMs: 0 })
  const take = (entry: RecordedWrite | RecordedDelivery): void => void ('to' in entry ? deliveries.push(entry) : writes.push(entry))
  recordEntries(simulator.server, clock, take, { deliveriesTo: (actor) => actor === 'executor' })
  await simulator.start()
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'bench', log: silentLogger })
  await install(client)
  const queue = createInProcessQueue({ clock })
  const programs = { clock, log: silentLogger, queue }
  startController({
    ...programs,
    exchange: simulator.exchangeFor('controller'),
    identity: 'controller',
    admission: 'none',
    leaderElection: false,
  })
  startExecutor({ ...programs, exchange: simulator.exchangeFor('executor'), identity: 'executor' })
  await until(client, ({ status }) => status?.phase === 'Healthy')

  const seen: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    const from = writes.length
    await setImage(client, `r${round}-bad-late`)
    await until(client, ({ status }) => status?.conditions?.some((one) => one.type === 'Stalled' && one.status === 'True') === true)
    await sleep(300)
    seen.push(readRound(writes.slice(from), deliveries))
    await setImage(client, `r${round}-good`)
    const isOver = ({ status, metadata }: Rollout): boolean =>
      status?.phase === 'Healthy' &&
      status.observedGeneration === metadata.generation &&
      status.canaryStatus?.currentStepState === 'Completed'
    await sleep(200)
    await until(client, isOver)
    deliveries.splice(0)
  }
  const at = (values: readonly number[], share: number): number =>
    Math.round((values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0) * 10) / 10
  return {
    rounds,
    lastDeleteP99Ms: at(
      seen.map(({ lastDeleteMs }) => lastDeleteMs),
      0.99,
    ),
    acknowledgedP50Ms: at(
      seen.map(({ acknowledgedMs }) => acknowledgedMs),
      0.5,
    ),
    acknowledgedP99Ms: at(
      seen.map(({ acknowledgedMs }) => acknowledgedMs),
      0.99,
    ),
    reportedP99Ms: at(
      seen.map(({ reportedMs }) => reportedMs),
      0.99,
    ),
  }
}

interface Round {
  readonly lastDeleteMs: number
  readonly acknowledgedMs: number
  readonly reportedMs: number
}

function readRound(writes: readonly RecordedWrite[], deliveries: readonly RecordedDelivery[]): Round {
  const failed = writes.find(({ kind, o }) => kind === 'Pod' && o['waiting'] === 'CrashLoopBackOff')
  if (failed === undefined) throw new Error('no pod crashed')
  const delivered = deliveries.find(({ of, rv }) => of === 'pods' && rv >= failed.rv)
  const lastDelete = writes.findLast(({ kind, verb, actor }) => kind === 'Pod' && verb === 'delete' && actor === 'executor')
  const held = writes.find((write) => write.kind === 'BatchRelease' && failureIn(write)?.stops === true)
  const reported = writes.find((write) => write.kind === 'Rollout' && failureIn(write)?.stops === true)
  return {
    lastDeleteMs: Math.max(0, (lastDelete?.t ?? 0) - (delivered?.t ?? failed.t)),
    acknowledgedMs: (held?.t ?? Number.NaN) - failed.t,
    reportedMs: (reported?.t ?? Number.NaN) - failed.t,
  }
}

function failureIn({ o }: RecordedWrite): { readonly stops?: boolean } | undefined {
  return (o['status'] as { readonly failure?: { readonly stops?: boolean } } | undefined)?.failure
}

async function install(client: KubeClient): Promise<void> {
  for (const definition of customResourceDefinitions) await client.create(resourcePaths.customResourceDefinitions, definition as never)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: stageKey.namespace } }
  await client.create(resourcePaths.namespaces, namespace as never)
  await client.create(resourcePaths.releasePolicies, policyManifest(options.policy) as never)
  await client.create(resourcePaths.daemonSets, daemonSetManifest(options) as never)
  await client.create(resourcePaths.rollouts, rolloutManifest(options) as never)
}

async function setImage(client: KubeClient, tag: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: imageOf(tag) }] } } } }
  await client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body })
}

async function until(client: KubeClient, isSo: (rollout: Rollout) => boolean): Promise<void> {
  for (const untilMs = performance.now() + 60_000; performance.now() < untilMs; await sleep(10)) {
    if (isSo(await client.get<Rollout>(resourcePaths.rollouts, stageKey))) return
  }
  throw new Error('the release did not get this far within a minute')
}
