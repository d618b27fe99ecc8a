import { addTo, type Amounts, amountText, type Demand, sumOf } from './demand.ts'
import { TakenPorts } from './taken-ports.ts'

/** A pod on a node, or one that waits for a node. */
export interface DemandingPod {
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Pods of higher priority are scheduled first, and may preempt others. */
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
 *   DaemonSet's pod may preempt them, but a release should not.
 */
export function shortagesIn(room: NodeRoom, demand: Demand): readonly Shortage[] {
  return shortagesBeside(usedIn(room), room, demand)
}

/** What pods take of a node: kept beside them, because a thousand pods may wait, and each may have a thousand ports. */
interface Used {
  readonly amounts: Map<string, bigint>
  readonly ports: TakenPorts<DemandingPod>
}

function usedIn({ pods }: NodeRoom): Used {
  const used: Used = { amounts: sumOf(pods.map(({ demand }) => demand.requests)), ports: new TakenPorts() }
  for (const pod of pods) used.ports.add(pod)
  return used
}

function shortagesBeside(used: Used, { allocatable }: NodeRoom, { requests, hostPorts }: Demand): readonly Shortage[] {
  const resources = [...requests].flatMap(([resource, requested]): readonly Shortage[] => {
    const all = allocatable.get(resource) ?? 0n
    const free = all - (used.amounts.get(resource) ?? 0n)
    if (requested === 0n || requested <= free) return []
    const text = (amount: bigint): string => amountText(resource, amount)
    return [{ kind: 'resource', resource, requested: text(requested), free: text(free), allocatable: text(all) }]
  })
  const ports = hostPorts.flatMap(({ ip, protocol, port }): readonly Shortage[] => {
    const holder = used.ports.holderOf({ ip, protocol, port })
    return holder === undefined ? [] : [{ kind: 'hostPort', port, protocol, takenBy: holder }]
  })
  return [...resources, ...ports]
}

/** Whether {@link shortagesBeside} would be empty; ends at the first shortage. */
function fitsBeside(used: Used, { allocatable }: NodeRoom, { requests, hostPorts }: Demand): boolean {
  for (const [resource, requested] of requests)
    if (requested !== 0n && requested > (allocatable.get(resource) ?? 0n) - (used.amounts.get(resource) ?? 0n)) return false
  return hostPorts.every((port) => used.ports.holderOf(port) === undefined)
}

/** A pod that would take the place of the pod that a release brings, and what the latter would then lack. */
export interface Taker {
  readonly pod: DemandingPod
  readonly shortages: readonly Shortage[]
}

/**
 * The first pending pod that the scheduler would put into the room before ours, and after which ours no longer fits. A pending pod of
 * lower priority is scheduled after ours, and one that does not fit takes nothing.
 *
 * @param pending pods without a node that may run on this one
 * @returns null without one
 */
export function takerIn(room: NodeRoom, ours: Pick<DemandingPod, 'demand' | 'priority'>, pending: readonly DemandingPod[]): Taker | null {
  const used = usedIn(room)
  const first = pending.filter(({ priority }) => priority >= ours.priority).toSorted(byPriority)
  for (const pod of first) {
    if (!fitsBeside(used, room, pod.demand)) continue
    addTo(used.amounts, pod.demand.requests)
    used.ports.add(pod)
    if (fitsBeside(used, room, ours.demand)) continue
    return { pod, shortages: shortagesBeside(used, room, ours.demand) }
  }
  return null
}

function byPriority(a: DemandingPod, b: DemandingPod): number {
  return b.priority - a.priority
}
