import { parseQuantity, type PodPlacement } from '@tranche/kube-types'

/** Amounts by resource name, in billionths of the unit. */
export type Amounts = ReadonlyMap<string, bigint>

/** A port of the node that a pod takes. */
export interface HostPort {
  /** `0.0.0.0` means every address. */
  readonly ip: string
  readonly protocol: string
  readonly port: number
}

/** What a pod takes of its node. */
export interface Demand {
  /** With one of `pods`. */
  readonly requests: Amounts
  readonly hostPorts: readonly HostPort[]
}

type Quantities = Readonly<Record<string, string>>

interface DemandingContainer {
  readonly restartPolicy?: string
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities }
  readonly ports?: readonly { readonly hostPort?: number; readonly hostIP?: string; readonly protocol?: string }[]
}

/** The parts of a pod's spec that decide whether it fits a node. @see core/v1 PodSpec */
export interface DemandingSpec extends PodPlacement {
  readonly priority?: number
  readonly priorityClassName?: string
  readonly overhead?: Quantities
  readonly resources?: { readonly requests?: Quantities }
  readonly containers?: readonly DemandingContainer[]
  readonly initContainers?: readonly DemandingContainer[]
}

/**
 * Computes the demand of a pod. Containers run together; init containers run before them, one after the other; init containers that restart
 * run beside all that follow. Requests of the whole pod replace those of its containers.
 *
 * @see k8s.io/component-helpers/resource PodRequests
 */
export function demandOf(spec: DemandingSpec): Demand {
  const { containers = [], initContainers = [] } = spec
  const sidecars = initContainers.filter(isSidecar)
  let running = sumOf([...containers, ...sidecars].map(requestsOf))
  let beside: Amounts = new Map()
  for (const container of initContainers) {
    const own = requestsOf(container)
    if (isSidecar(container)) beside = sumOf([beside, own])
    running = joined(running, isSidecar(container) ? beside : sumOf([beside, own]), largerOf)
  }
  const ofPod = new Map([...running, ...amountsOf(spec.resources?.requests)])
  return {
    requests: sumOf([ofPod, amountsOf(spec.overhead), ONE_POD]),
    hostPorts: [...containers, ...sidecars].flatMap(hostPortsOf),
  }
}

/** Whether a pod with the one demand fits wherever a pod with the other runs: it takes no more of any resource, and no other port. */
export function isWithin(demand: Demand, other: Demand): boolean {
  const isLess = [...demand.requests].every(([name, amount]) => amount <= (other.requests.get(name) ?? 0n))
  return isLess && demand.hostPorts.every((port) => other.hostPorts.some((known) => isSamePort(port, known)))
}

/** Reads quantities; one that no API server accepts counts as zero. */
export function amountsOf(quantities: Quantities = {}): Amounts {
  return new Map(Object.entries(quantities).map(([name, text]) => [name, parseQuantity(text) ?? 0n]))
}

/** Sum for each resource. */
export function sumOf(amounts: readonly Amounts[]): Amounts {
  return amounts.reduce<Amounts>((sum, each) => joined(sum, each, (a, b) => a + b), new Map())
}

/** Whether two pods with these ports cannot run on one node. */
export function doClash(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === EVERY_ADDRESS || b.ip === EVERY_ADDRESS)
}

const EVERY_ADDRESS = '0.0.0.0'
const ONE_POD = amountsOf({ pods: '1' })

function isSidecar({ restartPolicy }: DemandingContainer): boolean {
  return restartPolicy === 'Always'
}

/** A limit without a request is a request: the API server sets it in each pod, but not in the template. */
function requestsOf({ resources }: DemandingContainer): Amounts {
  return amountsOf({ ...resources?.limits, ...resources?.requests })
}

function hostPortsOf({ ports = [] }: DemandingContainer): readonly HostPort[] {
  return ports.flatMap(({ hostPort = 0, hostIP = '', protocol = 'TCP' }) =>
    hostPort > 0 ? [{ ip: hostIP === '' ? EVERY_ADDRESS : hostIP, protocol, port: hostPort }] : [],
  )
}

function isSamePort(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && a.ip === b.ip
}

function joined(a: Amounts, b: Amounts, join: (one: bigint, other: bigint) => bigint): Amounts {
  if (b.size === 0) return a
  const result = new Map(a)
  for (const [name, amount] of b) result.set(name, join(result.get(name) ?? 0n, amount))
  return result
}

function largerOf(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
