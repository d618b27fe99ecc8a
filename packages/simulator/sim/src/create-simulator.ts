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

/** What a simulator is made with. */
export interface SimulatorOptions {
  /** `virtual`: a new {@link VirtualClock}, which moves only while it is run. */
  readonly clock: Clock | 'virtual'
  /** Whole number. In virtual time the same seed and the same requests give the same recording. @default 1 */
  readonly seed?: number
  /** Nodes to begin with (≥ 0). */
  readonly nodes: number
  /** Divides the kubelets' durations and nothing else (> 0). @default 1 */
  readonly speed?: number
  /** Whether kubelets renew the Leases of their nodes; without, nothing ticks in a cluster at rest. @default false */
  readonly heartbeats?: boolean
  /** What becomes of a pod that begins, or is found, on its node. @default as its template says */
  readonly lives?: (pod: Pod) => PodLife | undefined
  /** Which controllers of Kubernetes run. @default all */
  readonly controllers?: readonly ControllerName[]
  /** Delay of an event on its way to a watcher, in milliseconds: drawn from the range, or from 0 up to a number. @default 20 */
  readonly watchDelayMs?: number | DelayRange
  /** Takes one line for every accepted write. @see recordWrites */
  readonly record?: (line: string) => void
  /** Whose deliveries are recorded too. @default nobody's */
  readonly recordDeliveriesTo?: (actor: string) => boolean
  /** Looks at writes before they are made. */
  readonly admit?: Admission
  /** How webhooks are reached; while one is asked, virtual time stands still. @default over HTTPS; services are nowhere */
  readonly webhooks?: Pick<WebhookOptions, 'resolveService' | 'exchangeFor'>
  /** Decides what goes wrong. */
  readonly faults?: FaultInjector
  /**
   * Who the actors of some names are, as RBAC judges them: `{'tranche-executor': {name: 'system:serviceaccount:tranche:executor',
   * groups: […]}}`. Any other name is an actor that may do everything.
   */
  readonly actors?: Readonly<Record<string, Actor>>
  /** Bearer token of the administrator. @default made from the seed: anyone who can reach a socket can guess it */
  readonly adminToken?: string
  /** Told of every failed pass of a controller and every failed write of a kubelet; both are tried again. @default not told */
  readonly onError?: (error: unknown, actor: string, key: string) => void
}

/** What can be done to the simulator's machines once it has started. */
export type SimulatorNodes = Omit<NodeControl, 'ready' | 'stop'>

/** A Kubernetes cluster in this process. */
export interface Simulator {
  readonly server: ApiServer
  /** The HTTP API as values; `listen` of sim-api puts it on a socket. */
  readonly front: HttpFront
  /** As given: wall time without the steps of {@link Simulator.stepClock}. */
  readonly clock: Clock
  /** Every call rejects before {@link Simulator.start}. */
  readonly nodes: SimulatorNodes
  readonly adminToken: string
  /** @returns a client in process, without HTTP, whose requests are sent as `actor` */
  clientFor(actor: Actor): SimClient
  /** @returns HTTP in process, without sockets, as the actor of this name @param managedFields see `inProcessExchange` */
  exchangeFor(actorName: string, managedFields?: ManagedFieldsIn): Exchange
  /** @returns a bearer token for the actor of this name; it tells nothing of the administrator's, nor of anybody else's */
  tokenFor(actorName: string): string
  /** Moves the wall clock of server, controllers and kubelets by `ms`, in either direction; the recording keeps its own time. */
  stepClock(ms: number): void
  /** Starts controllers and kubelets. Resolves when the nodes to begin with exist. In virtual time the clock need not run for that. */
  start(): Promise<void>
  /** Ends controllers, kubelets and watches. The server goes on answering. */
  stop(): void
}

/** Puts a cluster together: API server, controllers, nodes. Nothing runs before `start`, so that it can be furnished first. */
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
