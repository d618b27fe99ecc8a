import type { DaemonSet } from '@tranche/kube-types'
import { podAmounts } from '@tranche/sim-api'

/**
 * Describes what a forecast ignores about capacity. A snapshot has no pods but those of the DaemonSet, so only these and the node's total
 * capacity limit a new pod.
 *
 * @returns one sentence, without full stop
 */
export function capacityText(before: DaemonSet, planned: DaemonSet): string {
  const [was, is] = [podSpecOf(before), podSpecOf(planned)]
  const had = podAmounts(was, 'requests')
  const more = [...podAmounts(is, 'requests')].filter(([name, amount]) => amount > (had.get(name) ?? 0n)).map(([name]) => name)
  const known = new Set(hostPortsOf(was))
  const wanted = [...more, ...hostPortsOf(is).filter((port) => !known.has(port))]
  if (wanted.length === 0) return 'other pods on the nodes are ignored: each new pod is assumed to fit where the old one ran'
  return `not known: whether the nodes have room for what new pods request in addition to old ones: ${wanted.join(', ')}`
}

type PodSpec = Readonly<Record<string, unknown>>

function podSpecOf({ spec }: DaemonSet): PodSpec {
  return (spec.template.spec ?? {}) as PodSpec
}

interface Container {
  readonly ports?: readonly { readonly containerPort: number; readonly hostPort?: number; readonly protocol?: string }[]
}

/** A pod in the host network takes every port that it names. A defaulted template states `hostPort`; an applied manifest may not. */
function hostPortsOf({ containers, initContainers, hostNetwork }: PodSpec): readonly string[] {
  const all = [containers, initContainers].flatMap((list) => (Array.isArray(list) ? (list as readonly Container[]) : []))
  return all.flatMap(({ ports = [] }) =>
    ports.flatMap(({ containerPort, hostPort, protocol = 'TCP' }) => {
      const taken = hostPort ?? (hostNetwork === true ? containerPort : undefined)
      return taken === undefined ? [] : [`port ${taken}/${protocol} of the node`]
    }),
  )
}
