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
  /** Whether it is being deleted, and may be gone before a pending pod takes room. @default false */
  readonly isTerminating?: boolean
  /** Whether it preempts no pod (`preemptionPolicy: Never`). @default false */
  readonly isNonPreempting?: boolean
}

/** What the pod takes that a release brings. */
export interface PodDemand extends Pick<DemandingPod, 'demand' | 'priority'> {
  /** Highest priority of the pods of its DaemonSet that it replaces on the node; undefined without one. */
  readonly replacedPriority?: number | undefined
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
 * The first pending pod that the scheduler may put into the room before ours, and after which ours no longer fits. A pending pod of
 * lower priority is scheduled after ours, and one that does not fit takes nothing.
 *
 * Pending pods come one after the other, or only one of them comes, because the others run elsewhere. Pods that are being deleted may be gone by
 * then, and a pending pod may preempt those of lower priority. One that could have preempted the present pod as well would have done so by now.
 *
 * @param pending pods without a node that may run on this one
 * @returns null without one
 */
export function takerIn(room: NodeRoom, ours: PodDemand, pending: readonly DemandingPod[]): Taker | null {
  const first = pending.filter(({ priority }) => priority >= ours.priority).toSorted(byPriority)
  if (first.length === 0) return null
  const staying = room.pods.filter(({ isTerminating }) => isTerminating !== true)
  const rooms = staying.length === room.pods.length ? [room] : [room, { ...room, pods: staying }]
  for (const one of rooms) {
    const taker = takerInTurn(one, ours, first) ?? takerAlone(one, ours, first)
    if (taker !== null) return taker
  }
  return null
}

function takerInTurn(room: NodeRoom, ours: Pick<DemandingPod, 'demand'>, pending: readonly DemandingPod[]): Taker | null {
  const used = usedIn(room)
  for (const pod of pending) {
    if (!fitsBeside(used, room, pod.demand)) continue
    take(used, pod)
    if (fitsBeside(used, room, ours.demand)) continue
    return { pod, shortages: shortagesBeside(used, room, ours.demand) }
  }
  return null
}

function takerAlone(room: NodeRoom, ours: PodDemand, pending: readonly DemandingPod[]): Taker | null {
  const occupied = usedIn(room)
  /** What stays if pods of lower priority are preempted, by their number. */
  const least = new Map([[0, occupied]])
  for (const pod of pending) {
    const preempts = pod.isNonPreempting !== true && pod.priority <= (ours.replacedPriority ?? Number.NEGATIVE_INFINITY)
    const staying = preempts ? room.pods.filter(({ priority }) => priority >= pod.priority) : room.pods
    const preempted = room.pods.length - staying.length
    if (!least.has(preempted)) least.set(preempted, usedIn({ ...room, pods: staying }))
    for (const used of new Set([occupied, least.get(preempted)!])) {
      if (!fitsBeside(used, room, pod.demand) || fitsTogether(used, room, [pod.demand, ours.demand])) continue
      take(used, pod)
      return { pod, shortages: shortagesBeside(used, room, ours.demand) }
    }
  }
  return null
}

function take(used: Used, pod: DemandingPod): void {
  addTo(used.amounts, pod.demand.requests)
  used.ports.add(pod)
}

/** Whether a pod that fits leaves room for the second one. Without a copy of `used` for each pending pod: a thousand may wait. */
function fitsTogether(used: Used, { allocatable }: NodeRoom, [first, second]: readonly [Demand, Demand]): boolean {
  for (const [resource, requested] of second.requests) {
    const taken = (used.amounts.get(resource) ?? 0n) + (first.requests.get(resource) ?? 0n)
    if (requested !== 0n && requested > (allocatable.get(resource) ?? 0n) - taken) return false
  }
  const ports = new TakenPorts<{ readonly demand: Demand }>()
  ports.add({ demand: first })
  return second.hostPorts.every((port) => used.ports.holderOf(port) === undefined && ports.holderOf(port) === undefined)
}

function byPriority(a: DemandingPod, b: DemandingPod): number {
  return b.priority - a.priority
}
