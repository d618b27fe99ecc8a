import { parseQuantity, type Pod } from '@tranche/kube-types'
import type { DemandingSpec, Quantities } from './demand.ts'

/** What a kubelet says that a container, or a pod, has of its node. @see core/v1 ContainerStatus, PodStatus */
interface Held {
  readonly allocatedResources?: Quantities
  readonly resources?: { readonly requests?: Quantities }
}

interface HeldByContainer extends Held {
  readonly name?: string
}

interface ResizingStatus extends Held {
  readonly conditions?: readonly { readonly type?: string; readonly status?: string; readonly reason?: string }[]
  readonly containerStatuses?: readonly HeldByContainer[]
  readonly initContainerStatuses?: readonly HeldByContainer[]
}

type Container = NonNullable<DemandingSpec['containers']>[number]

/**
 * @returns the spec with the requests that a scheduler counts while the pod is resized in place: of each resource the most of what is asked
 *   for, allocated and in use. A resize that the node can never carry out does not count.
 * @see k8s.io/component-helpers/resource PodRequests, with UseStatusResources
 */
export function withHeldResources(spec: DemandingSpec, pod: Pod): DemandingSpec {
  const status = (pod.status ?? {}) as ResizingStatus
  const { containerStatuses = [], initContainerStatuses = [], conditions = [] } = status
  const isInfeasible = conditions.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible')
  const held = new Map([...containerStatuses, ...initContainerStatuses].map((one) => [one.name, one]))
  const raised = <T extends Pick<Container, 'resources'>>(asking: T, has: Held | undefined): T => {
    const kept = [has?.allocatedResources, has?.resources?.requests].filter((one) => one !== undefined)
    if (kept.length === 0) return asking
    const asked = { ...asking.resources?.limits, ...asking.resources?.requests }
    return { ...asking, resources: { ...asking.resources, requests: mostOf(isInfeasible ? kept : [asked, ...kept]) } }
  }
  const all = (containers: readonly Container[] | null | undefined): readonly Container[] =>
    (containers ?? []).map((container) => raised(container, held.get(container.name)))
  const changed = { ...spec, containers: all(spec.containers), initContainers: all(spec.initContainers) }
  // The status of a pod without requests of its own sums up those of its containers.
  return spec.resources?.requests === undefined ? changed : raised(changed, status)
}

/** The largest quantity of each resource. */
function mostOf(all: readonly Quantities[]): Quantities {
  const most = new Map<string, string>()
  for (const [name, text] of all.flatMap((one) => Object.entries(one)))
    if ((parseQuantity(text) ?? 0n) >= (parseQuantity(most.get(name) ?? '0') ?? 0n)) most.set(name, text)
  return Object.fromEntries(most)
}
