import { type BatchRelease, customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { createSteppedClock, VirtualClock } from '@tranche/clock'
import { startController } from '@tranche/controller'
import { type Failpoints, createFailpoints, noFailpoints } from '@tranche/failpoints'
import { startExecutor } from '@tranche/executor'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { type DaemonSet, LEASE_NAMESPACE, type ObjectKey, type Pod, PRE_PULL_LABEL } from '@tranche/kube-types'
import { type Logger, silentLogger, type Tracer } from '@tranche/telemetry'
import { createMetrics, type Metrics, exportJobMetrics, waiting } from '@tranche/metrics'
import type { EgressClient } from '@tranche/egress'
import { createInProcessQueue, type JobQueue } from '@tranche/queue'
import { type RecordedWrite, type Recording, readRecording, readWithDeliveries } from '@tranche/recording'
import { createSimulator, type Simulator } from '@tranche/sim'
import type { FaultInjector } from '@tranche/sim-api'
import type { Exchange } from '@tranche/wire'
import { admissionOf, enforcePins, enforcePolicies, installWebhooks, webhookOf } from './admission.ts'
import { createProcess, type Process } from './process.ts'
import { daemonSetManifest, policyManifest, type ReleaseOptions, rolloutManifest, stageKey } from './stage-objects.ts'

/** A Tranche program in its own process. */
export interface Program {
  readonly process: Process
  stop(): Promise<void>
  /** Ends the process at once: it sends nothing any more. */
  kill(): void
}

/** A cluster with Tranche's programs, in virtual time, on which a story is played. */
export interface Stage {
  readonly clock: VirtualClock
  readonly simulator: Simulator
  readonly client: KubeClient
  /** Advances time until `done` holds. Throws if that takes longer than `withinMs` of virtual time. */
  until(what: string, done: () => Promise<boolean> | boolean, withinMs?: number): Promise<void>
  /** Lets `ms` of virtual time pass. */
  pass(ms: number): Promise<void>
  rollout(name?: string): Promise<Rollout>
  release(): Promise<BatchRelease | undefined>
  daemonSet(): Promise<DaemonSet>
  /** All pods without helper pods. */
  pods(): Promise<readonly Pod[]>
  /** Pods that pull images. */
  helperPods(): Promise<readonly Pod[]>
  /** Changes the image of the DaemonSet's container to this tag. */
  setImage(tag: string): Promise<void>
  patchDaemonSet(body: object): Promise<void>
  patchRollout(body: object): Promise<void>
  /** Approves the paused step, as `kubectl kruise rollout approve` does. */
  approve(): Promise<void>
  startExecutor(identity: string): Promise<Program>
  startController(identity: string): Promise<Program>
  /** A program that was started, by its identity. */
  program(identity: string): Program
  /** Metrics of a program by its identity; null once it was killed. Only with `counts`. */
  scrape(identity: string): Promise<string | null>
  /** Injects faults in addition to those of the options. @returns function that removes them */
  disturb(faults: FaultInjector): () => void
  /** Every write that the API server has accepted. */
  recording(): readonly RecordedWrite[]
  /** The same, with the events that the watches of Tranche's programs received. */
  recordingWithDeliveries(): Recording
  end(): Promise<void>
}

/** A program that passes a failpoint. */
export interface Passing {
  readonly stage: Stage
  readonly identity: string
  readonly point: string
  readonly process: Process
}

/** Options of a stage. */
export interface StageOptions extends ReleaseOptions {
  /** @default 10 */
  readonly nodes?: number
  readonly seed?: number
  readonly faults?: FaultInjector
  /** @default one controller and one executor */
  readonly executors?: readonly string[]
  /** More than one use leader election. */
  readonly controllers?: readonly string[]
  /** @default none */
  readonly admission?: 'none' | 'inProcess' | 'policy' | 'webhook'
  readonly watchDelayMs?: number
  /** Wraps the queue of each program. @default no wrapper */
  readonly queue?: (queue: JobQueue) => JobQueue
  /** Controllers and executors share one queue. @default each executor has its own queue */
  readonly sharesQueue?: boolean
  readonly log?: Logger
  /** Every program counts its own metrics. @default false */
  readonly counts?: boolean
  /** Egress to the hosts that policies name, by the clock of the stage. @default nothing can be reached */
  readonly egress?: (clock: VirtualClock) => EgressClient
  /** Tracer of a program by its identity. @default none */
  readonly tracer?: (identity: string) => Tracer
  /** Wraps the connection between a program and the API server. */
  readonly tap?: (identity: string, exchange: Exchange) => Exchange
  /** Called at every failpoint that a program passes. It has to start a replacement of a program that it ends. */
  readonly onPoint?: (passing: Passing) => Promise<void> | void
  /** Programs are started from a timer of the clock, so `startController` does not wait until they are ready. @default false */
  readonly startsWhileRunning?: boolean
  /** How far the wall clock of a program is ahead of the API server's, in milliseconds, by its identity. @default 0 */
  readonly clockAheadMs?: (identity: string) => number
  /** Controllers read which ConfigMaps are immutable. @default false */
  readonly readConfig?: boolean
  /** Namespaces whose policies may drain nodes. @default every namespace */
  readonly drainNamespaces?: readonly string[]
  /** Whether drained nodes get the condition `DrainInProgress`. @default false */
  readonly drainConditions?: boolean
  /** Controllers pin config. @default false */
  readonly pinConfig?: boolean
  /** Whether the API server has the policy for pods from the start. @default true where controllers pin config */
  readonly podPolicy?: boolean
  /** Namespaces whose Secrets controllers pin too; `*` for all. @default none */
  readonly pinSecretNamespaces?: readonly string[]
  /** Namespaces that the programs watch. @default every namespace */
  readonly namespaces?: readonly string[]
  /** Where the installation keeps the Leases of groups. @default it allows no groups */
  readonly groups?: { readonly namespace: string; readonly shared: readonly string[] }
  /** Namespaces whose policies may lock nodes. @default only if the policy asks for it: every namespace */
  readonly lockNamespaces?: readonly string[]
  /** Where the installation remembers downtime; null: it does not. @default only if the policy asks for it: kube-system */
  readonly downtimeNamespace?: string | null
  /** Whether policies may check that nodes have room. @default true */
  readonly room?: boolean
  /** Whether executors may create helper pods. @default only if the policy asks for them */
  readonly prePull?: boolean
  /** Whether accepted writes and deliveries are kept in memory; without it the recordings are empty. @default true */
  readonly records?: boolean
  /** @default true: a Rollout is created, and the story starts when it is Healthy */
  readonly withRollout?: boolean
}

/** Sets the stage: simulator, CRDs, a DaemonSet rolled out on every node, its Rollout Healthy. */
export async function setStage(options: StageOptions = {}): Promise<Stage> {
  const clock = new VirtualClock()
  const lines: string[] = []
  const faults = new Set<FaultInjector>(options.faults === undefined ? [] : [options.faults])
  const programs = new Map<string, Program>()
  const isServed = (): boolean => [...programs].some(([identity, { process }]) => identity.startsWith('controller') && !process.isFrozen())
  const webhook: Exchange = (request, signal) => webhookOf(simulator.exchangeFor('webhook'), clock, isServed)(request, signal)
  const simulator: Simulator = createSimulator({
    clock,
    webhooks: { exchangeFor: () => webhook },
    seed: options.seed ?? 1,
    nodes: options.nodes ?? 10,
    watchDelayMs: options.watchDelayMs ?? 20,
    ...(options.records !== false && {
      record: (line) => void lines.push(line),
      recordDeliveriesTo: (actor) => /^(controller|executor)-/.test(actor),
    }),
    faults: {
      onRequest: (call) => firstOf(faults, (injector) => injector.onRequest?.(call)),
      onEvent: (event) => firstOf(faults, (injector) => injector.onEvent?.(event)),
    },
  })
  const client = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock, userAgent: 'story/1', log: silentLogger })
  const counted = new Map<string, Metrics>()
  const scope = options.namespaces === undefined ? {} : { namespaces: options.namespaces }
  const { drainNamespaces = ['*'], drainConditions = false } = options
  const shared = options.sharesQueue === true ? { queue: (options.queue ?? asItIs)(createInProcessQueue({ clock })) } : {}
  const stage: Stage = {
    ...readingsOf(client),
    ...userOf(client),
    clock,
    simulator,
    client,
    until: (what, done, withinMs = 600_000) => runUntil(clock, what, done, withinMs, async () => describe(stage)),
    pass: (ms) => letPass(clock, ms),
    startExecutor: (identity) =>
      start(identity, (ports) => {
        const queue = createInProcessQueue({ ...ports, ...waiting(ports.metrics, 'jobs') })
        if (ports.metrics !== undefined) exportJobMetrics(ports.metrics, queue)
        const prePull = options.prePull ?? options.policy?.prePull !== undefined
        const lockNamespaces = options.lockNamespaces ?? (options.policy?.downtime?.nodeLock === undefined ? [] : ['*'])
        const downtime = options.downtimeNamespace ?? (options.policy?.downtime?.perDay === undefined ? null : LEASE_NAMESPACE)
        const memory = options.downtimeNamespace === null || downtime === null ? {} : { downtimeNamespace: downtime }
        const rights = { room: options.room ?? true, prePull, drainNamespaces, drainConditions, lockNamespaces, ...memory }
        return startExecutor({ ...ports, ...scope, ...rights, queue: (options.queue ?? asItIs)(queue), ...shared })
      }),
    startController: (identity) =>
      start(identity, (ports) =>
        startController({
          ...ports,
          ...scope,
          ...shared,
          groups: options.groups,
          ...(options.room !== undefined && { room: options.room }),
          ...(options.prePull !== undefined && { prePull: options.prePull }),
          drainNamespaces: options.drainNamespaces,
          lockNamespaces: options.lockNamespaces,
          downtime: options.downtimeNamespace !== null,
          ...(options.egress && { egress: options.egress(clock) }),
          admission: options.admission ?? 'none',
          readConfig: options.readConfig ?? false,
          pinConfig: options.pinConfig ?? false,
          podPolicy: 'pods',
          pinSecretNamespaces: options.pinSecretNamespaces ?? [],
          leaderElection: (options.controllers?.length ?? 1) > 1,
        }),
      ),
    program(identity) {
      const program = programs.get(identity)
      if (program === undefined) throw new Error(`no program ${identity} was started`)
      return program
    },
    async scrape(identity) {
      const metrics = counted.get(identity)
      if (metrics === undefined) throw new Error(`${identity} counts nothing: set the stage with counts`)
      return stage.program(identity).process.isFrozen() ? null : drive(clock, metrics.text())
    },
    disturb(injector) {
      faults.add(injector)
      return () => void faults.delete(injector)
    },
    recording: () => [...readRecording(lines)],
    recordingWithDeliveries: () => readWithDeliveries(lines),
    async end() {
      await drive(clock, Promise.all([...programs.values()].map((program) => program.stop())))
      simulator.stop()
    },
  }

  async function start(identity: string, begin: (ports: Ports) => Running): Promise<Program> {
    const toServer = simulator.exchangeFor(identity)
    const machineClock = createSteppedClock(clock)
    machineClock.stepWall(options.clockAheadMs?.(identity) ?? 0)
    const process = createProcess(machineClock, options.tap?.(identity, toServer) ?? toServer)
    const { exchange, clock: ownClock } = process
    const { onPoint } = options
    const failpoints = onPoint === undefined ? noFailpoints : createFailpoints((point) => onPoint({ stage, identity, point, process }))
    const log = options.log ?? silentLogger
    const metrics = options.counts === true ? { metrics: await createMetrics({ clock: ownClock, log, version: '0.1.0' }) } : {}
    if (metrics.metrics !== undefined) counted.set(identity, metrics.metrics)
    const running = begin({
      exchange,
      clock: ownClock,
      log,
      identity,
      seed: options.seed ?? 1,
      failpoints,
      tracer: options.tracer?.(identity),
      ...metrics,
    })
    running.stopped.catch(() => {})
    running.ready.catch(() => {})
    let ended = false
    const program: Program = {
      process,
      async stop() {
        if (ended || process.isFrozen()) return
        ended = true
        await running.stop()
      },
      kill() {
        ended = true
        process.freeze()
      },
    }
    programs.set(identity, program)
    if (!options.faults && !options.onPoint && !options.startsWhileRunning) await drive(clock, running.ready)
    return program
  }

  if (options.admission === 'inProcess') simulator.server.useAdmission(admissionOf(simulator))
  if (options.admission === 'policy') await enforcePolicies(simulator)
  if (options.pinConfig === true && options.podPolicy !== false) await enforcePins(simulator)
  if (options.admission === 'webhook') await installWebhooks(simulator)
  await furnish(stage, options)
  return stage
}

const asItIs = (queue: JobQueue): JobQueue => queue

type Ports = Pick<Parameters<typeof startExecutor>[0], 'exchange' | 'clock' | 'log' | 'identity'> & {
  readonly seed: number
  readonly failpoints: Failpoints
  readonly metrics?: Metrics
  readonly tracer: Tracer | undefined
}

interface Running {
  readonly ready: Promise<void>
  readonly stopped: Promise<void>
  stop(): Promise<void>
}

function readingsOf(client: KubeClient): Pick<Stage, 'rollout' | 'release' | 'daemonSet' | 'pods' | 'helperPods'> {
  const { namespace } = stageKey
  return {
    rollout: (name = stageKey.name) => client.get<Rollout>(resourcePaths.rollouts, { namespace, name }),
    async release() {
      const { items } = await client.list<BatchRelease>(resourcePaths.batchReleases, { namespace })
      return items.find(({ metadata }) => metadata.name === stageKey.name)
    },
    daemonSet: () => client.get<DaemonSet>(resourcePaths.daemonSets, stageKey),
    pods: async () => (await client.list<Pod>(resourcePaths.pods, { namespace, labelSelector: `!${PRE_PULL_LABEL}` })).items,
    helperPods: async () => (await client.list<Pod>(resourcePaths.pods, { namespace, labelSelector: PRE_PULL_LABEL })).items,
  }
}

function userOf(client: KubeClient): Pick<Stage, 'setImage' | 'patchDaemonSet' | 'patchRollout' | 'approve'> {
  const merge = async (resource: Parameters<KubeClient['patch']>[0], body: object, key: ObjectKey = stageKey): Promise<void> =>
    void (await client.patch(resource, key, { type: 'merge', body }))
  return {
    async setImage(tag) {
      const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: `registry.example/node-agent:${tag}` }] } } } }
      await client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body })
    },
    patchDaemonSet: (body) => merge(resourcePaths.daemonSets, body),
    patchRollout: (body) => merge(resourcePaths.rollouts, body),
    async approve() {
      const body = { status: { canaryStatus: { currentStepState: 'StepReady' } } }
      await client.patch(resourcePaths.rollouts, stageKey, { type: 'merge', body }, { subresource: 'status' })
    },
  }
}

async function furnish(stage: Stage, options: StageOptions): Promise<void> {
  const { client, simulator, clock } = stage
  await drive(clock, simulator.start())
  const create = async (resource: Parameters<KubeClient['create']>[0], object: object): Promise<void> =>
    void (await drive(clock, client.create(resource, object as never)))
  for (const definition of customResourceDefinitions) await create(resourcePaths.customResourceDefinitions, definition)
  await create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: stageKey.namespace } })
  await create(resourcePaths.daemonSets, daemonSetManifest(options))
  const isRolledOut = async (): Promise<boolean> => {
    const { metadata, status } = await stage.daemonSet()
    return status?.observedGeneration === metadata.generation && (status?.numberAvailable ?? 0) === (options.nodes ?? 10)
  }
  await stage.until('the DaemonSet is rolled out', isRolledOut)
  if (options.policy !== undefined) await create(resourcePaths.releasePolicies, policyManifest(options.policy))
  if (options.withRollout !== false) await create(resourcePaths.rollouts, rolloutManifest(options))
  for (const identity of options.controllers ?? ['controller-1']) await stage.startController(identity)
  for (const identity of options.executors ?? ['executor-1']) await stage.startExecutor(identity)
  if (options.withRollout !== false)
    await stage.until('the Rollout is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
}

function firstOf<T>(injectors: Iterable<FaultInjector>, draw: (injector: FaultInjector) => T | undefined): T | undefined {
  for (const injector of injectors) {
    const fault = draw(injector)
    if (fault !== undefined) return fault
  }
  return undefined
}

/** Runs the clock until a promise has settled. */
export async function drive<T>(clock: Pick<VirtualClock, 'run'>, promise: Promise<T>): Promise<T> {
  let settled = false
  const mark = (): void => void (settled = true)
  promise.then(mark, mark)
  await clock.run({ done: () => settled })
  return promise
}

/** Advances time even if no timer is set. */
async function letPass(clock: VirtualClock, ms: number): Promise<void> {
  const untilMs = clock.monotonicMs() + ms
  clock.setTimer(ms, () => {})
  await clock.run({ untilMs })
}

/** Checks `done` every 250 ms of virtual time. */
async function runUntil(
  clock: VirtualClock,
  what: string,
  done: () => Promise<boolean> | boolean,
  withinMs: number,
  detail: () => Promise<string>,
): Promise<void> {
  const endMs = clock.monotonicMs() + withinMs
  for (;;) {
    if (await drive(clock, Promise.resolve(done()))) return
    if (clock.monotonicMs() >= endMs) throw new Error(`"${what}" did not come true within ${withinMs} ms: ${await drive(clock, detail())}`)
    await letPass(clock, 250)
  }
}

async function describe(stage: Stage): Promise<string> {
  const orNothing = <T>(promise: Promise<T>): Promise<T | undefined> => promise.catch(() => undefined)
  const rollout = await orNothing(stage.rollout())
  const release = await orNothing(stage.release())
  const daemonSet = await orNothing(stage.daemonSet())
  const pods = (await stage.pods()).map(({ metadata, spec, status }) =>
    [
      spec?.nodeName,
      metadata.labels?.['controller-revision-hash'],
      status?.phase,
      metadata.deletionTimestamp === undefined ? '' : 'terminating',
    ].join(' '),
  )
  const { status, metadata } = daemonSet ?? {}
  return JSON.stringify({
    rollout: rollout?.status,
    paused: rollout?.spec.strategy.paused,
    release: release?.status,
    spec: release?.spec,
    daemonSet: { status, annotations: metadata?.annotations, strategy: daemonSet?.spec.updateStrategy },
    pods,
  })
}
