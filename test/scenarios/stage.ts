import { type BatchRelease, customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { VirtualClock } from '@tranche/clock'
import { type RunningController, startController } from '@tranche/controller'
import { type RunningExecutor, startExecutor } from '@tranche/executor'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, Pod } from '@tranche/kube-types'
import { type Logger, silentLogger } from '@tranche/log'
import { createInProcessQueue } from '@tranche/queue'
import { type RecordedWrite, readRecording } from '@tranche/recording'
import { createSimulator, type Simulator } from '@tranche/sim'
import type { FaultInjector } from '@tranche/sim-api'

/** A cluster with our programs in it, in virtual time: what a story is played on. */
export interface Stage {
  readonly clock: VirtualClock
  readonly simulator: Simulator
  readonly client: KubeClient
  /** Runs until `done` holds; fails when it does not within `withinMs` of virtual time. */
  until(what: string, done: () => Promise<boolean> | boolean, withinMs?: number): Promise<void>
  /** Lets `ms` of virtual time pass. */
  pass(ms: number): Promise<void>
  rollout(): Promise<Rollout>
  release(): Promise<BatchRelease | undefined>
  daemonSet(): Promise<DaemonSet>
  pods(): Promise<readonly Pod[]>
  /** Changes the image of the DaemonSet's container. */
  setImage(image: string): Promise<void>
  /** Approves the paused step, as `kubectl kruise rollout approve` does. */
  approve(): Promise<void>
  startExecutor(identity: string): Promise<RunningExecutor>
  startController(identity: string): Promise<RunningController>
  /** Every write the API server has accepted. */
  recording(): readonly RecordedWrite[]
  end(): Promise<void>
}

/** How a stage is set. */
export interface StageOptions {
  readonly nodes?: number
  readonly seed?: number
  readonly maxUnavailable?: number | string
  readonly steps?: NonNullable<Rollout['spec']['strategy']['canary']>['steps']
  readonly faults?: FaultInjector
  readonly annotations?: Readonly<Record<string, string>>
  readonly minReadySeconds?: number
  /** @default one controller and one executor */
  readonly executors?: readonly string[]
  readonly controllers?: readonly string[]
  readonly watchDelayMs?: number
  readonly log?: Logger
}

const key = { namespace: 'demo', name: 'node-agent' }

/** Sets the stage: simulator, CRDs, a DaemonSet rolled out on every node, its Rollout Healthy. */
export async function setStage(options: StageOptions = {}): Promise<Stage> {
  const clock = new VirtualClock()
  const lines: string[] = []
  const simulator = createSimulator({
    clock,
    seed: options.seed ?? 1,
    nodes: options.nodes ?? 10,
    watchDelayMs: options.watchDelayMs ?? 20,
    record: (line) => void lines.push(line),
    ...(options.faults !== undefined && { faults: options.faults }),
  })
  const log = options.log ?? silentLogger
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'story/1', log: silentLogger })
  const running: { stop(): Promise<void> }[] = []

  const stage: Stage = {
    clock,
    simulator,
    client,
    until: (what, done, withinMs = 600_000) => runUntil(clock, what, done, withinMs, async () => describe(stage)),
    pass: async (ms) => void (await clock.run({ untilMs: clock.monotonicMs() + ms })),
    rollout: () => client.get<Rollout>(resourcePaths.rollouts, key),
    async release() {
      const { items } = await client.list<BatchRelease>(resourcePaths.batchReleases, { namespace: key.namespace })
      return items.find(({ metadata }) => metadata.name === key.name)
    },
    daemonSet: () => client.get<DaemonSet>(resourcePaths.daemonSets, key),
    pods: async () => (await client.list<Pod>(resourcePaths.pods, { namespace: key.namespace })).items,
    async setImage(image) {
      const body = { spec: { template: { spec: { containers: [{ name: 'agent', image }] } } } }
      await client.patch(resourcePaths.daemonSets, key, { type: 'strategic', body })
    },
    async approve() {
      const body = { status: { canaryStatus: { currentStepState: 'StepReady' } } }
      await client.patch(resourcePaths.rollouts, key, { type: 'merge', body }, { subresource: 'status' })
    },
    async startExecutor(identity) {
      const queue = createInProcessQueue({ clock })
      const executor = startExecutor({ exchange: simulator.exchangeFor(identity), clock, log, identity, queue, seed: options.seed ?? 1 })
      executor.stopped.catch(() => {})
      running.push(executor)
      await drive(clock, executor.ready)
      return executor
    },
    async startController(identity) {
      const controller = startController({
        exchange: simulator.exchangeFor(identity),
        clock,
        log,
        identity,
        admission: 'none',
        leaderElection: (options.controllers?.length ?? 1) > 1,
        seed: options.seed ?? 1,
      })
      controller.stopped.catch(() => {})
      running.push(controller)
      await drive(clock, controller.ready)
      return controller
    },
    recording: () => [...readRecording(lines)],
    async end() {
      await drive(clock, Promise.all(running.map((program) => program.stop())))
      simulator.stop()
    },
  }
  await furnish(stage, options)
  return stage
}

async function furnish(stage: Stage, options: StageOptions): Promise<void> {
  const { client, simulator, clock } = stage
  await drive(clock, simulator.start())
  const create = async (resource: Parameters<KubeClient['create']>[0], object: Parameters<KubeClient['create']>[1]): Promise<void> =>
    void (await drive(clock, client.create(resource, object)))
  for (const definition of customResourceDefinitions) await create(resourcePaths.customResourceDefinitions, definition)
  await create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: key.namespace } } as never)
  await create(resourcePaths.daemonSets, daemonSetFor(options) as never)
  await stage.until('the DaemonSet is rolled out', async () => (await stage.daemonSet()).status?.numberAvailable === (options.nodes ?? 10))
  await create(resourcePaths.rollouts, rolloutFor(options) as never)
  for (const identity of options.controllers ?? ['controller-1']) await stage.startController(identity)
  for (const identity of options.executors ?? ['executor-1']) await stage.startExecutor(identity)
  await stage.until('the Rollout is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
}

function daemonSetFor(options: StageOptions): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: key,
    spec: {
      selector: { matchLabels: { app: 'node-agent' } },
      minReadySeconds: options.minReadySeconds ?? 0,
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: options.maxUnavailable ?? 2 } },
      template: {
        metadata: { labels: { app: 'node-agent' }, annotations: { 'sim.tranche.dev/jitter-ms': '500', ...options.annotations } },
        spec: { containers: [{ name: 'agent', image: 'registry.example/node-agent:v1' }] },
      },
    },
  }
}

function rolloutFor(options: StageOptions): object {
  const steps = options.steps ?? [{ replicas: '20%', pause: {} }, { replicas: '100%' }]
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata: key,
    spec: { workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: key.name }, strategy: { canary: { steps } } },
  }
}

/** Runs the clock until a promise has settled. */
export async function drive<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let settled = false
  const mark = (): void => void (settled = true)
  promise.then(mark, mark)
  await clock.run({ done: () => settled })
  return promise
}

/** Looks every 250 ms of virtual time. */
async function runUntil(
  clock: VirtualClock,
  what: string,
  done: () => Promise<boolean> | boolean,
  withinMs: number,
  tell: () => Promise<string>,
): Promise<void> {
  const endMs = clock.monotonicMs() + withinMs
  for (;;) {
    if (await drive(clock, Promise.resolve(done()))) return
    if (clock.monotonicMs() >= endMs) throw new Error(`"${what}" did not come true within ${withinMs} ms: ${await drive(clock, tell())}`)
    await clock.run({ untilMs: clock.monotonicMs() + 250 })
  }
}

async function describe(stage: Stage): Promise<string> {
  const [rollout, release, daemonSet] = [await stage.rollout(), await stage.release(), await stage.daemonSet()]
  const { status, metadata } = daemonSet
  return JSON.stringify({
    rollout: rollout.status,
    release: release?.status,
    spec: release?.spec,
    daemonSet: { status, annotations: metadata.annotations, strategy: daemonSet.spec.updateStrategy },
  })
}
