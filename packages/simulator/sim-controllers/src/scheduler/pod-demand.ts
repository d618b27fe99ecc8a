import type { LabelSelector, Pod, PodPlacement } from '@tranche/kube-types'
import { type NanoAmounts, podAmounts, readAmounts } from '@tranche/sim-api'

/** Amounts by resource name: `cpu` in thousandths, all others in units. */
export type Amounts = ReadonlyMap<string, number>

/** Host port of a pod. */
export interface HostPort {
  /** `0.0.0.0` means every address. */
  readonly ip: string
  readonly protocol: string
  readonly port: number
}

/** @see core/v1 PodAffinityTerm */
export interface PodAffinityTerm {
  readonly topologyKey: string
  readonly labelSelector?: LabelSelector
  readonly namespaces?: readonly string[]
  readonly namespaceSelector?: LabelSelector
}

/** @see core/v1 TopologySpreadConstraint */
export interface SpreadConstraint {
  readonly maxSkew: number
  readonly topologyKey: string
  readonly whenUnsatisfiable: string
  readonly labelSelector?: LabelSelector
  readonly minDomains?: number
}

/** Fields of a pod's spec for the scheduler and the kubelet's admission. @see core/v1 PodSpec */
export interface DemandingSpec extends PodPlacement {
  readonly [field: string]: unknown
  readonly schedulerName?: string
  readonly priority?: number
  readonly preemptionPolicy?: string
  readonly overhead?: Quantities
  readonly resources?: { readonly requests?: Quantities }
  readonly containers?: readonly DemandingContainer[]
  readonly initContainers?: readonly DemandingContainer[]
  readonly topologySpreadConstraints?: readonly SpreadConstraint[]
  readonly affinity?: NonNullable<PodPlacement['affinity']> & {
    readonly podAffinity?: RequiredTerms
    readonly podAntiAffinity?: RequiredTerms
  }
}

interface RequiredTerms {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[]
}

type Quantities = Readonly<Record<string, string>>

interface DemandingContainer {
  readonly restartPolicy?: string
  readonly resources?: { readonly requests?: Quantities }
  readonly ports?: readonly { readonly hostPort?: number; readonly hostIP?: string; readonly protocol?: string }[]
}

/** Resources that a pod uses on its node. */
export interface PodDemand {
  readonly requests: Amounts
  readonly hostPorts: readonly HostPort[]
}

/** Versions of a pod share an unchanged spec. */
const known = new WeakMap<object, PodDemand>()

/** @returns resources of the pod; computed once per spec */
export function demandOf(pod: Pod): PodDemand {
  const spec = specOf(pod)
  let demand = known.get(spec)
  if (demand === undefined) known.set(spec, (demand = { requests: toAmounts(podAmounts(spec, 'requests')), hostPorts: hostPortsOf(spec) }))
  return demand
}

/** @returns typed spec of the pod */
export function specOf(pod: Pod): DemandingSpec {
  return (pod.spec ?? {}) as DemandingSpec
}

/** @returns priority set by admission; 0 without one */
export function priorityOf(pod: Pod): number {
  return specOf(pod).priority ?? 0
}

/** @returns amounts of a map of quantities; invalid quantities are dropped */
export function amountsOf(quantities: Readonly<Record<string, string>>): Amounts {
  return toAmounts(readAmounts(quantities))
}

function toAmounts(nano: NanoAmounts): Amounts {
  return new Map([...nano].map(([name, amount]) => [name, amountOf(name, amount)]))
}

/** Rounds up, as Kubernetes does. */
function amountOf(name: string, nano: bigint): number {
  const unit = name === 'cpu' ? 1_000_000n : 1_000_000_000n
  return Number((nano + unit - 1n) / unit)
}

function hostPortsOf({ containers = [], initContainers = [] }: DemandingSpec): readonly HostPort[] {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')
  return [...containers, ...sidecars].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, hostIP, protocol }) =>
      hostPort > 0 ? [{ ip: hostIP || '0.0.0.0', protocol: protocol || 'TCP', port: hostPort }] : [],
    ),
  )
}
