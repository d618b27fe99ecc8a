import { type Clock, createSteppedClock, VirtualClock } from '@tranche/clock'
import { type Pod, sha256Hex } from '@tranche/kube-types'
import {
  type Actor,
  type Admission,
  type ApiServer,
  createApiServer,
  createHttpFront,
  type DelayRange,
  type FaultInjector,
  type HttpFront,
  inProcessExchange,
  type ManagedFieldsIn,
  type SimClient,
  type WebhookOptions,
} from '@tranche/sim-api'
import { type ControllerName, type RunningController, startControllers } from '@tranche/sim-controllers'
import { type NodeControl, type NodeOptions, type PodLife, startNodes } from '@tranche/sim-nodes'
import type { Exchange } from '@tranche/wire'
import { recordWrites } from './record-writes.ts'

/** Options of a simulator. */
export interface SimulatorOptions {
  /** `virtual`: a new {@link VirtualClock}, which advances only while it runs. */
  readonly clock: Clock | 'virtual'
  /** Whole number. In virtual time the same seed and the same requests give the same recording. @default 1 */
  readonly seed?: number
  /** Number of initial nodes (≥ 0). */
  readonly nodes: number
  /** Divides the durations of kubelets only (> 0). @default 1 */
  readonly speed?: number
  /** Whether kubelets renew the Leases of their nodes; without them, an idle cluster has no timers. @default false */
  readonly heartbeats?: boolean
  /** Life cycle of a pod that starts, or is found, on its node. @default as its template says */
  readonly lives?: (pod: Pod) => PodLife | undefined
  /** Kubernetes controllers to run. @default all */
  readonly controllers?: readonly ControllerName[]
  /** Delay of watch events in milliseconds: drawn from the range, or from 0 up to a number. @default 20 */
  readonly watchDelayMs?: number | DelayRange
  /** Called with one line per accepted write. @see recordWrites */
  readonly record?: (line: string) => void
  /** Actors whose deliveries are recorded too. @default none */
  readonly recordDeliveriesTo?: (actor: string) => boolean
  /** Admission hook that reviews writes. */
  readonly admit?: Admission
  /** How webhooks are reached; virtual time stops during their calls. @default over HTTPS; services are unreachable */
  readonly webhooks?: Pick<WebhookOptions, 'resolveService' | 'exchangeFor'>
  /** Fault injector. */
  readonly faults?: FaultInjector
  /**
   * Identities of actors for RBAC, by name: `{'tranche-executor': {name: 'system:serviceaccount:tranche:executor', groups: […]}}`. An actor
   * of any other name may do everything.
   */
  readonly actors?: Readonly<Record<string, Actor>>
  /** Bearer token of the administrator. @default derived from the seed: anyone who can reach a socket can guess it */
  readonly adminToken?: string
  /** Called for every failed controller pass and failed kubelet write; both are retried. @default ignored */
  readonly onError?: (error: unknown, actor: string, key: string) => void
}

/** Operations on the simulator's nodes after the start. */
export type SimulatorNodes = Omit<NodeControl, 'ready' | 'stop'>

/** Kubernetes cluster in this process. */
export interface Simulator {
  readonly server: ApiServer
  /** HTTP API as values; `listen` of sim-api serves it on a socket. */
  readonly front: HttpFront
  /** Clock as given: wall time without the changes of {@link Simulator.stepClock}. */
  readonly clock: Clock
  /** Every call rejects before {@link Simulator.start}. */
  readonly nodes: SimulatorNodes
  readonly adminToken: string
  /** @returns in-process client without HTTP, whose requests are sent as `actor` */
  clientFor(actor: Actor): SimClient
  /** @returns in-process HTTP client without sockets, as the actor of this name @param managedFields see `inProcessExchange` */
  exchangeFor(actorName: string, managedFields?: ManagedFieldsIn): Exchange
  /** @returns bearer token of the actor of this name; it reveals no other token */
  tokenFor(actorName: string): string
  /** Moves the wall clock of server, controllers and kubelets by `ms`, forwards or backwards; the recording keeps its own time. */
  stepClock(ms: number): void
  /** Starts controllers and kubelets. Resolves when the initial nodes exist. In virtual time, this does not need a running clock. */
  start(): Promise<void>
  /** Stops controllers, kubelets and watches. The server continues to respond. */
  stop(): void
}

/** Assembles a cluster of API server, controllers and nodes. Nothing runs before `start`, so that objects can be added first. */
export function createSimulator(options: SimulatorOptions): Simulator {
  const { seed = 1, watchDelayMs = 20, adminToken = `admin-${seed}` } = options
  const steadyClock = options.clock === 'virtual' ? new VirtualClock() : options.clock
  const clock = createSteppedClock(steadyClock)
  const hold = steadyClock instanceof VirtualClock ? { hold: () => steadyClock.hold() } : {}
  const webhooks = { ...options.webhooks, ...hold }
  const server = createApiServer({ clock, seed, watchDelayMs: toRange(watchDelayMs), webhooks })
  if (options.record !== undefined)
    recordWrites(server, steadyClock, options.record, { deliveriesTo: options.recordDeliveriesTo ?? (() => false) })
  server.useAdmission(options.admit)
  server.useFaults(options.faults)
  const tokens: Record<string, Actor> = { [adminToken]: { name: 'admin', groups: ['system:masters'] } }
  const front = createHttpFront(server, { tokens, clock })
  let running: Running | undefined

  function tokenFor(actorName: string): string {
    if (actorName === 'admin') return adminToken
    const token = sha256Hex(JSON.stringify([adminToken, actorName]))
    tokens[token] ??= options.actors?.[actorName] ?? { name: actorName, groups: ['system:masters'] }
    return token
  }

  return {
    server,
    front,
    clock: steadyClock,
    nodes: nodesOf(() => running?.nodes),
    adminToken,
    clientFor: (actor) => server.clientFor(actor),
    exchangeFor: (actorName, managedFields) => inProcessExchange(front, tokenFor(actorName), managedFields),
    tokenFor,
    stepClock: (ms) => clock.stepWall(ms),
    async start() {
      running ??= run(server, clock, options)
      await running.nodes.ready
    },
    stop() {
      running?.controllers.stop()
      running?.nodes.stop()
      front.endWatches()
    },
  }
}

function toRange(delayMs: number | DelayRange): DelayRange {
  return typeof delayMs === 'number' ? { min: 0, max: delayMs } : delayMs
}

interface Running {
  readonly controllers: RunningController
  readonly nodes: NodeControl
}

function run(
  server: ApiServer,
  clock: Clock,
  { seed = 1, nodes, speed = 1, heartbeats = false, lives, controllers, onError = () => {} }: SimulatorOptions,
): Running {
  const clientFor = (actor: Actor): SimClient => server.clientFor(actor)
  return {
    nodes: startNodes({ clientFor, clock, nodes, speed, heartbeats, lives, onError }),
    controllers: startControllers({ clientFor, clock, seed: String(seed), ...(controllers && { only: controllers }), onError }),
  }
}

function nodesOf(control: () => NodeControl | undefined): SimulatorNodes {
  async function started(): Promise<NodeControl> {
    const nodes = control()
    if (nodes === undefined) throw new Error('the simulator has not started')
    return nodes
  }
  return {
    addNode: async (name: string, options?: NodeOptions) => (await started()).addNode(name, options),
    removeNode: async (name: string) => (await started()).removeNode(name),
    kill: async (name: string) => (await started()).kill(name),
    revive: async (name: string) => (await started()).revive(name),
  }
}
