import { formatQuantity, parseQuantity, type PodPlacement } from '@tranche/kube-types'

/** `hostIP` of a port on every address of the node. */
export const EVERY_ADDRESS = '0.0.0.0'

/** Amounts by resource name, in billionths of the unit. */
export type Amounts = ReadonlyMap<string, bigint>

/** A port of the node that a pod takes. */
export interface HostPort {
  /** {@link EVERY_ADDRESS} means every address. */
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

/** Amounts as an API server writes them, by resource name. */
export type Quantities = Readonly<Record<string, string>>

interface DemandingContainer {
  readonly name?: string
  readonly restartPolicy?: string
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities }
  readonly ports?: readonly ContainerPort[]
}

/** @see core/v1 ContainerPort */
interface ContainerPort {
  readonly containerPort?: number
  readonly hostPort?: number
  readonly hostIP?: string
  readonly protocol?: string
}

/** The parts of a pod's spec that decide whether it fits a node. @see core/v1 PodSpec */
export interface DemandingSpec extends PodPlacement {
  readonly priority?: number
  readonly priorityClassName?: string
  readonly overhead?: Quantities
  /** A pod in the network of its node takes every port that it names. */
  readonly hostNetwork?: boolean
  readonly resources?: { readonly requests?: Quantities; readonly limits?: Quantities }
  readonly containers?: readonly DemandingContainer[] | null
  readonly initContainers?: readonly DemandingContainer[] | null
}

/**
 * Computes the demand of a pod. Containers run together; init containers run before them, one after the other; init containers that restart
 * run beside all that follow. Requests of the whole pod replace those of its containers. Its limits are its requests where neither are given.
 *
 * @see k8s.io/component-helpers/resource PodRequests
 * @see k8s.io/kubernetes/pkg/apis/core/v1 defaultPodRequests
 */
export function demandOf(spec: DemandingSpec): Demand {
  // An API server sends an absent list of containers as null before it rejects it.
  const containers = spec.containers ?? []
  const initContainers = spec.initContainers ?? []
  const sidecars = initContainers.filter(isSidecar)
  const running = sumOf([...containers, ...sidecars].map(requestsOf))
  const beside = new Map<string, bigint>()
  for (const container of initContainers) {
    const own = requestsOf(container)
    if (isSidecar(container)) addTo(beside, own)
    for (const [name, amount] of own) {
      const atOnce = (beside.get(name) ?? 0n) + (isSidecar(container) ? 0n : amount)
      const known = running.get(name)
      if (known === undefined || atOnce > known) running.set(name, atOnce)
    }
  }
  const ofPod = new Map([...amountsOf(spec.resources?.limits), ...running, ...amountsOf(spec.resources?.requests)])
  return {
    requests: sumOf([ofPod, amountsOf(spec.overhead), ONE_POD]),
    hostPorts: [...containers, ...sidecars].flatMap((container) => hostPortsOf(container, spec.hostNetwork === true)),
  }
}

/** Reads quantities; one that no API server accepts counts as zero. */
export function amountsOf(quantities: Quantities = {}): Amounts {
  return new Map(Object.entries(quantities).map(([name, text]) => [name, parseQuantity(text) ?? 0n]))
}

/** Sum for each resource; a new map. */
export function sumOf(amounts: readonly Amounts[]): Map<string, bigint> {
  const sum = new Map<string, bigint>()
  for (const each of amounts) addTo(sum, each)
  return sum
}

/** Adds amounts to a sum. */
export function addTo(sum: Map<string, bigint>, amounts: Amounts): void {
  for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0n) + amount)
}

/** @returns the amount as a quantity, such as `500m`, `1536Mi` or `-1`; memory and storage in powers of two, as kubectl shows them */
export function amountText(resource: string, amount: bigint): string {
  const form = /^(memory|ephemeral-storage|hugepages-.+)$/.test(resource) ? 'binary' : 'decimal'
  return amount < 0n ? `-${formatQuantity(-amount, form)}` : formatQuantity(amount, form)
}

const ONE_POD = amountsOf({ pods: '1' })

function isSidecar({ restartPolicy }: DemandingContainer): boolean {
  return restartPolicy === 'Always'
}

/** A limit without a request is a request: the API server sets it in each pod, but not in the template. */
function requestsOf({ resources }: DemandingContainer): Amounts {
  return amountsOf({ ...resources?.limits, ...resources?.requests })
}

function hostPortsOf({ ports = [] }: DemandingContainer, isInNodesNetwork: boolean): readonly HostPort[] {
  return ports.flatMap(({ containerPort = 0, hostPort = 0, hostIP = '', protocol = 'TCP' }) => {
    const port = hostPort === 0 && isInNodesNetwork ? containerPort : hostPort
    return port > 0 ? [{ ip: hostIP === '' ? EVERY_ADDRESS : hostIP, protocol, port }] : []
  })
}
