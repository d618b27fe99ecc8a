import { type BatchRelease, type ClusterSnapshot, customResourceDefinitions, type Rollout } from '@tranche/api-schema'
import { VirtualClock } from '@tranche/clock'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import type { Pod } from '@tranche/kube-types'
import { silentLogger } from '@tranche/log'
import { createInProcessQueue } from '@tranche/queue'
import { createSimulator, type Simulator } from '@tranche/sim'
import type { PodLife } from '@tranche/sim-nodes'
import type { AcceptedWrite } from '@tranche/sim-api'
import type { Exchange } from '@tranche/wire'
import { admitChange } from './admit-change.ts'
import { CONTROLLER, EXECUTOR } from './timeline.ts'
import { allOf, labelPods } from './label-pods.ts'
import type { ForecastPrograms, ClusterCache, RunningProgram } from './programs.ts'
import { storedDaemonSet, storedObjects, storedRevisions } from './stored-objects.ts'
import { withoutEvents } from './without-events.ts'

/** A copy of a cluster in virtual time, with the programs in it. */
export interface SimulatedCluster {
  readonly clock: VirtualClock
  readonly simulator: Simulator
  /** Acts as a person would. */
  readonly client: KubeClient
  /** Rejects with what ended a program before its time. */
  readonly failed: Promise<never>
  end(): Promise<void>
}

/** How a copy is made. */
export interface SimulatedClusterOptions<R extends ClusterCache> {
  readonly programs: ForecastPrograms<R>
  /** What becomes of a pod. */
  readonly lives: (pod: Pod) => PodLife | undefined
  readonly onWrite: (write: AcceptedWrite) => void
  /** The Rollout as it is now. */
  readonly rollout: () => Rollout
  /** The BatchRelease as it is now. */
  readonly release: () => BatchRelease | undefined
  /** Told of the clock before anything runs by it. */
  readonly onClock: (clock: VirtualClock) => void
}

/** What reaches whoever watches, in milliseconds: as long as in a cluster at rest. */
const WATCH_DELAY_MS = 5

/** Controllers that have a part in a release. Garbage is not collected, and nobody evicts by budget. */
const CONTROLLERS = ['daemonset-controller', 'default-scheduler', 'taint-eviction-controller', 'resourcequota-controller'] as const

/** Makes the copy and starts the programs in it; resolves when they have read it. */
export async function simulateCluster<R extends ClusterCache>(
  snapshot: ClusterSnapshot,
  options: SimulatedClusterOptions<R>,
): Promise<SimulatedCluster> {
  const clock = new VirtualClock(snapshot.takenAtMs)
  options.onClock(clock)
  const watchDelayMs = { min: WATCH_DELAY_MS, max: WATCH_DELAY_MS }
  // Not the seed that a simulated cluster has by itself: its copy would give new pods the uids that pods there have.
  const seed = snapshot.takenAtMs
  const simulator = createSimulator({ clock, seed, nodes: 0, watchDelayMs, lives: options.lives, controllers: CONTROLLERS })
  // Of what fields are whose nobody is told: it is then not worked out either.
  const exchangeOf = (name: string): Exchange => simulator.exchangeFor(name, 'nothing')
  const clientOf = (name: string): KubeClient =>
    createKubeClient({ exchange: exchangeOf(name), clock, userAgent: 'forecast', log: silentLogger })
  const client = clientOf('person')
  for (const definition of customResourceDefinitions)
    await during(clock, client.create(resourcePaths.customResourceDefinitions, definition))
  load(simulator, snapshot)
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
      countingEveryMs: countingEveryMs(snapshot),
    }),
  )
  await start(options.programs.startExecutor({ ...portsOf(EXECUTOR), queue: createInProcessQueue({ clock }) }))
  return {
    clock,
    simulator,
    client,
    failed: failed.promise,
    async end() {
      await during(clock, Promise.allSettled(running.map((program) => program.stop())))
      ending.abort(new Error('the forecast is made'))
      simulator.stop()
    },
  }
}

function load({ server }: Simulator, snapshot: ClusterSnapshot): void {
  server.load(storedObjects(snapshot))
  if (snapshot.daemonSet === undefined) return
  const [daemonSet] = server.load([storedDaemonSet(snapshot.daemonSet)])
  if (daemonSet !== undefined) server.load(storedRevisions(snapshot, daemonSet))
}

/** Runs the clock until a promise has settled. */
export async function during<T>(clock: VirtualClock, work: Promise<T>): Promise<T> {
  let isOver = false
  const mark = (): void => void (isOver = true)
  work.then(mark, mark)
  await clock.run({ done: () => isOver })
  return work
}

/** A DaemonSet that is bound and at rest on `RollingUpdate` is turned as its release begins: by admission. */
export function admissionOf({ daemonSet, rollout }: ClusterSnapshot): 'none' | 'inProcess' {
  const isBound = rollout.status?.phase === 'Healthy'
  return isBound && daemonSet?.spec.updateStrategy?.type !== 'OnDelete' ? 'inProcess' : 'none'
}

/**
 * A millisecond for each node, 100 to 1,000: rarer than in a cluster, so that what a forecast costs grows with the pods and hardly with
 * the time that they take. A batch is seen to be ready by so much later at most; what goes wrong is looked at without delay.
 */
function countingEveryMs({ nodes }: ClusterSnapshot): number {
  return Math.min(1_000, Math.max(100, nodes.length))
}

/** Nobody outside of the copy hears of it. */
const nowhere = {
  allows: () => false,
  send: async () => ({ kind: 'failed', reason: 'HostNotAllowed', message: 'a forecast asks nobody' }) as const,
  close: async () => {},
}
