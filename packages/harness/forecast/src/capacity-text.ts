import type { DaemonSet } from '@tranche/kube-types'
import { podAmounts } from '@tranche/sim-api'

/**
 * What a forecast does not know of the room on the nodes: a snapshot has no other pods than those of the DaemonSet, so that nothing but
 * these, and what a node can hold as a whole, limits a new one.
 *
 * @returns one sentence, without full stop
 */
export function capacityText(before: DaemonSet, planned: DaemonSet): string {
  const [was, is] = [podSpecOf(before), podSpecOf(planned)]
  const had = podAmounts(was, 'requests')
  const more = [...podAmounts(is, 'requests')].filter(([name, amount]) => amount > (had.get(name) ?? 0n)).map(([name]) => name)
  const known = new Set(hostPortsOf(was))
  const wanted = [...more, ...hostPortsOf(is).filter((port) => !known.has(port))]
  if (wanted.length === 0) return 'other pods on the nodes are not looked at: a new pod is taken to have the room of the one before it'
  return `not known: whether the nodes have room beside other pods for what new pods ask for and those before them did not: ${wanted.join(', ')}`
}

type PodSpec = Readonly<Record<string, unknown>>

function podSpecOf({ spec }: DaemonSet): PodSpec {
  return (spec.template.spec ?? {}) as PodSpec
}

interface Container {
  readonly ports?: readonly { readonly containerPort: number; readonly hostPort?: number; readonly protocol?: string }[]
}

/** A pod in the network of its node takes every port that it names. A defaulted template says so, one that somebody applies may not. */
function hostPortsOf({ containers, initContainers, hostNetwork }: PodSpec): readonly string[] {
  const all = [containers, initContainers].flatMap((list) => (Array.isArray(list) ? (list as readonly Container[]) : []))
  return all.flatMap(({ ports = [] }) =>
    ports.flatMap(({ containerPort, hostPort, protocol = 'TCP' }) => {
      const taken = hostPort ?? (hostNetwork === true ? containerPort : undefined)
      return taken === undefined ? [] : [`port ${taken}/${protocol} of the node`]
    }),
  )
}
