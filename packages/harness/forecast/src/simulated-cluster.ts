import { type BatchRelease, type ClusterSnapshot, customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { VirtualClock } from '@tranche/clock'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { LEASE_NAMESPACE, type Pod } from '@tranche/kube-types'
import { silentLogger } from '@tranche/telemetry'
import { createInProcessQueue } from '@tranche/queue'
import { createSimulator, type Simulator } from '@tranche/sim'
import type { PodLife } from '@tranche/sim-nodes'
import type { AcceptedWrite } from '@tranche/sim-api'
import type { Exchange } from '@tranche/wire'
import { admitChange } from './admit-change.ts'
import { CONTROLLER, EXECUTOR } from './timeline.ts'
import { allOf, labelPods } from './label-pods.ts'
import type { ReportedHolds } from './planned/reported-holds.ts'
import type { ForecastPrograms, ForecastCache, RunningProgram } from './programs.ts'
import { storedDaemonSet, storedObjects, storedRevisions } from './stored-objects.ts'
import { withoutEvents } from './without-events.ts'

/** Copy of a cluster in virtual time, with the programs running in it. */
export interface SimulatedCluster {
  readonly clock: VirtualClock
  readonly simulator: Simulator
  /** Client that acts as a user. */
  readonly client: KubeClient
  /** Rejects with the error that ended a program early. */
  readonly failed: Promise<never>
  end(): Promise<void>
}

/** Inputs for a copy. */
export interface SimulatedClusterOptions<R extends ForecastCache> {
  readonly programs: ForecastPrograms<R>
  readonly holds: ReportedHolds
  /** Decides the life cycle of each pod. */
  readonly lives: (pod: Pod) => PodLife | undefined
  readonly onWrite: (write: AcceptedWrite) => void
  /** @returns the current Rollout */
  readonly rollout: () => Rollout
  /** @returns the current BatchRelease */
  readonly release: () => BatchRelease | undefined
  /** Called with the clock before anything runs on it. */
  readonly onClock: (clock: VirtualClock) => void
}

/** Delay of watch events in milliseconds, as in an idle cluster. */
const WATCH_DELAY_MS = 5

/** Controllers that take part in a release. There is no garbage collector and no disruption controller. */
const CONTROLLERS = ['daemonset-controller', 'default-scheduler', 'taint-eviction-controller', 'resourcequota-controller'] as const

/** Creates the copy and starts the programs in it; resolves when their caches have synced. */
export async function simulateCluster<R extends ForecastCache>(
  snapshot: ClusterSnapshot,
  { holds: { refused, stop }, ...options }: SimulatedClusterOptions<R>,
): Promise<SimulatedCluster> {
  const clock = new VirtualClock(snapshot.takenAtMs)
  options.onClock(clock)
  const watchDelayMs = { min: WATCH_DELAY_MS, max: WATCH_DELAY_MS }
  // The copy does not use the seed of a simulated cluster: the same seed would give new pods the uids of existing ones.
  const seed = snapshot.takenAtMs
  const simulator = createSimulator({ clock, seed, nodes: 0, watchDelayMs, lives: options.lives, controllers: CONTROLLERS })
  // Nothing in the copy reads managed fields, so they are not computed.
  const exchangeOf = (name: string): Exchange => simulator.exchangeFor(name, 'nothing')
  const clientOf = (name: string): KubeClient =>
    createKubeClient({ exchange: exchangeOf(name), clock, userAgent: 'forecast', log: silentLogger })
  const client = clientOf('person')
  for (const definition of customResourceDefinitions)
    await during(clock, client.create(resourcePaths.customResourceDefinitions, definition))
  load(simulator, snapshot, refused)
  const strategy = admissionOf(snapshot) === 'inProcess' ? [admitChange(options.rollout)] : []
  simulator.server.useAdmission(allOf([...strategy, labelPods(options.release)]))
  simulator.server.useFaults(withoutEvents(CONTROLLERS))
  simulator.server.observe(options.onWrite)
  await during(clock, simulator.start())

  const running: RunningProgram[] = []
  const failed = Promise.withResolvers<never>()
  failed.promise.catch(() => {})
  const start = async (program: RunningProgram): Promise<void> => {
    running.push(program)
    program.stopped.catch((error: unknown) => failed.reject(error))
    await during(clock, program.ready)
  }
  const clusterCache = options.programs.createSharedClusterCache({ client: clientOf(CONTROLLER), clock, log: silentLogger })
  const ending = new AbortController()
  clusterCache.start(ending.signal, failed.reject)
  const portsOf = (identity: string) => ({ exchange: exchangeOf(identity), clusterCache, clock, log: silentLogger, identity })
  await start(
    options.programs.startController({
      ...portsOf(CONTROLLER),
      admission: admissionOf(snapshot),
      leaderElection: false,
      egress: nowhere,
      groups: refused.has('GroupNotAllowed') ? undefined : { namespace: LEASE_NAMESPACE, shared: [] },
      countingEveryMs: countingEveryMs(snapshot),
    }),
  )
  const ports = { ...portsOf(EXECUTOR), ...rightsOf(snapshot, refused), queue: createInProcessQueue({ clock }) }
  if (stop === null) await start(options.programs.startExecutor(ports))
  return {
    clock,
    simulator,
    client,
    failed: failed.promise,
    async end() {
      await during(clock, Promise.allSettled(running.map((program) => program.stop())))
      ending.abort(new Error('forecast complete'))
      simulator.stop()
    },
  }
}

/** What executors may do. Helper pods are watched, so only if a policy asks for them. */
function rightsOf({ policy }: ClusterSnapshot, refused: ReadonlySet<string>): { readonly room: boolean; readonly prePull: boolean } {
  const prePull = policy?.spec.prePull !== undefined && !refused.has('PrePullNotAllowed')
  return { room: !refused.has('RoomNotAllowed'), prePull }
}

function load({ server }: Simulator, snapshot: ClusterSnapshot, refused: ReadonlySet<string>): void {
  server.load(storedObjects(snapshot, refused))
  if (snapshot.daemonSet === undefined) return
  const [daemonSet] = server.load([storedDaemonSet(snapshot.daemonSet)])
  if (daemonSet !== undefined) server.load(storedRevisions(snapshot, daemonSet))
}

/** Runs the clock until the promise has settled. */
export async function during<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isOver = false
  const mark = (): void => void (isOver = true)
  work.then(mark, mark)
  await clock.run({ done: () => isOver })
  return work
}

/** A bound DaemonSet at rest on `RollingUpdate` uses admission: its strategy changes when its release starts. */
export function admissionOf({ daemonSet, rollout }: ClusterSnapshot): 'none' | 'inProcess' {
  const isBound = rollout.status?.phase === 'Healthy'
  return isBound && daemonSet?.spec.updateStrategy?.type !== 'OnDelete' ? 'inProcess' : 'none'
}

/**
 * One millisecond per node, 100 to 1,000. That is rarer than in a cluster, so a forecast's cost grows with the pods and hardly with their
 * durations. A batch is seen as ready at most that much later; failures are evaluated without delay.
 */
function countingEveryMs({ nodes }: ClusterSnapshot): number {
  return Math.min(1_000, Math.max(100, nodes.length))
}

/** Refuses to send: a forecast notifies no receivers. */
const nowhere = {
  allows: () => false,
  send: async () => ({ kind: 'failed', reason: 'HostNotAllowed', message: 'a forecast sends no requests' }) as const,
  close: async () => {},
}
