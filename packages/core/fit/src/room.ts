import { type Amounts, amountText, type Demand, type HostPort, isPortConflict, sumOf } from './demand.ts'

/** A pod on a node, or one that waits for a node. */
export interface DemandingPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Pods of higher priority are scheduled first, and may displace others. */
  readonly priority: number
  readonly demand: Demand
}

/** A node, and everything that runs on it. */
export interface NodeRoom {
  /** `status.allocatable`; a resource that it lacks is not on the node. */
  readonly allocatable: Amounts
  /** Pods that are bound to the node and have not ended. */
  readonly pods: readonly DemandingPod[]
}

/** Why a pod does not fit a node. */
export type Shortage =
  /** The node has less of the resource than the pod requests, as quantities. `free` is negative if `allocatable` fell below what pods request. */
  | {
      readonly kind: 'resource'
      readonly resource: string
      readonly requested: string
      readonly free: string
      readonly allocatable: string
    }
  /** Another pod has a port that the pod needs. */
  | {
      readonly kind: 'hostPort'
      readonly port: number
      readonly protocol: string
      readonly takenBy: Pick<DemandingPod, 'namespace' | 'name'>
    }

/**
 * @returns why a pod with this demand does not fit the room; empty where it does. Pods of lower priority count as much as others: a
 *   DaemonSet's pod may displace them, but a release should not.
 */
export function shortagesIn(room: NodeRoom, demand: Demand): readonly Shortage[] {
  return shortagesBeside(usedIn(room), room, demand)
}

function usedIn({ pods }: NodeRoom): Amounts {
  return sumOf(pods.map(({ demand }) => demand.requests))
}

function shortagesBeside(used: Amounts, { allocatable, pods }: NodeRoom, { requests, hostPorts }: Demand): readonly Shortage[] {
  const resources = [...requests].flatMap(([resource, requested]): readonly Shortage[] => {
    const all = allocatable.get(resource) ?? 0n
    const free = all - (used.get(resource) ?? 0n)
    if (requested === 0n || requested <= free) return []
    const text = (amount: bigint): string => amountText(resource, amount)
    return [{ kind: 'resource', resource, requested: text(requested), free: text(free), allocatable: text(all) }]
  })
  return [...resources, ...hostPorts.flatMap((port) => takenPort(port, pods))]
}

/** A pod that would take the place of the pod that a release brings, and what the latter would then lack. */
export interface Taker {
  readonly pod: DemandingPod
  readonly shortages: readonly Shortage[]
}

/**
 * The first waiting pod that the scheduler would put into the room before ours, and after which ours no longer fits. A waiting pod of
 * lower priority is scheduled after ours, and one that does not fit takes nothing.
 *
 * @param waiting pods without a node that may run on this one
 * @returns null without one
 */
export function takerIn(room: NodeRoom, ours: Pick<DemandingPod, 'demand' | 'priority'>, waiting: readonly DemandingPod[]): Taker | null {
  let taken = room
  // Kept beside the pods: a thousand may wait, and a sum over the node's pods for each would hold up the process.
  let used = usedIn(room)
  const first = waiting.filter(({ priority }) => priority >= ours.priority).toSorted(byPriority)
  for (const pod of first) {
    if (shortagesBeside(used, taken, pod.demand).length > 0) continue
    taken = { ...taken, pods: [...taken.pods, pod] }
    used = sumOf([used, pod.demand.requests])
    const shortages = shortagesBeside(used, taken, ours.demand)
    if (shortages.length > 0) return { pod, shortages }
  }
  return null
}

function byPriority(a: DemandingPod, b: DemandingPod): number {
  return b.priority - a.priority
}

function takenPort(port: HostPort, pods: readonly DemandingPod[]): readonly Shortage[] {
  const holder = pods.find(({ demand }) => demand.hostPorts.some((other) => isPortConflict(port, other)))
  if (holder === undefined) return []
  return [{ kind: 'hostPort', port: port.port, protocol: port.protocol, takenBy: holder }]
}
