import { INJECTED_FAULT_FORMS, injectedFaultPattern } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import type { Node } from '@tranche/kube-types'

/** Fault injected on some nodes. */
export interface InjectedFault {
  /**
   * `Fails`: the node dies as soon as the new version is Ready there; all nodes of the fault die with the first. `NotReady`: the node is
   * dead from the start. `Crashes`: the new version crashes there.
   */
  readonly kind: 'Fails' | 'NotReady' | 'Crashes'
  /** Node names. */
  readonly nodes: ReadonlySet<string>
}

const ZONE_LABEL = 'topology.kubernetes.io/zone'

/**
 * Parses faults: `node-7 fails`, `zone-a is NotReady`, `5% crash`. A number selects that many nodes; a percentage rounds up. The selection
 * is derived from the node names, so it is the same each time.
 *
 * @throws AppError FORECAST_INVALID with the text and the accepted forms
 */
export function parseInjectedFaults(texts: readonly string[], nodes: readonly Node[]): readonly InjectedFault[] {
  return texts.map((text, at) => {
    const [, subject, verb] = injectedFaultPattern.exec(text.trim()) ?? []
    if (subject === undefined || verb === undefined)
      throw invalid(at, `${JSON.stringify(text)} is not a fault`, `Write one of: ${INJECTED_FAULT_FORMS}.`)
    return { kind: kindOf(verb), nodes: nodesOf(subject, nodes, at) }
  })
}

function kindOf(verb: string): InjectedFault['kind'] {
  const lower = verb.toLowerCase()
  if (lower.startsWith('fail')) return 'Fails'
  return lower.startsWith('crash') ? 'Crashes' : 'NotReady'
}

/** A node name wins over a zone, and both win over a number. */
function nodesOf(subject: string, nodes: readonly Node[], at: number): ReadonlySet<string> {
  const names = nodes.map(({ metadata }) => metadata.name)
  if (names.includes(subject)) return new Set([subject])
  const inZone = nodes.filter(({ metadata }) => metadata.labels?.[ZONE_LABEL] === subject)
  if (inZone.length > 0) return new Set(inZone.map(({ metadata }) => metadata.name))
  const count = countOf(subject, names.length)
  if (count === undefined) throw unknownSubject(subject, nodes, at)
  if (count > names.length) throw invalid(at, `${subject} is more than the ${names.length} nodes of the cluster`, 'Write a smaller number.')
  return new Set(names.toSorted((a, b) => hash(a) - hash(b)).slice(0, count))
}

function countOf(subject: string, nodes: number): number | undefined {
  const [, number, percent] = /^(\d{1,6})(%?)$/.exec(subject) ?? []
  if (number === undefined || Number(number) === 0) return undefined
  return percent === '%' ? Math.ceil((Number(number) / 100) * nodes) : Number(number)
}

function unknownSubject(subject: string, nodes: readonly Node[], at: number): AppError {
  const zones = [...new Set(nodes.flatMap(({ metadata }) => metadata.labels?.[ZONE_LABEL] ?? []))].sort()
  const zonesText = zones.length === 0 ? 'The nodes have no zones.' : `Zones: ${zones.slice(0, 10).join(', ')}.`
  const example = nodes[0] === undefined ? '' : ` A node name looks like ${nodes[0].metadata.name}.`
  return invalid(at, `${JSON.stringify(subject)} is not a node, a zone, a number from 1 or a percentage`, `${zonesText}${example}`)
}

function invalid(at: number, what: string, hint: string): AppError {
  return new AppError('FORECAST_INVALID', `if[${at}]: ${what}`, { hint })
}

/** 32-bit FNV-1a, mixed so that similar names spread widely. @see Fowler, Noll, Vo */
function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  sum = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  return (sum ^ (sum >>> 13)) >>> 0
}

/** Nodes of the cluster, with those marked that are down from the start. */
export function withDeadNodes(nodes: readonly Node[], injectedFaults: readonly InjectedFault[]): readonly Node[] {
  const dead = new Set(injectedFaults.flatMap((injectedFault) => (injectedFault.kind === 'NotReady' ? [...injectedFault.nodes] : [])))
  return dead.size === 0 ? nodes : nodes.map((node) => (dead.has(node.metadata.name) ? fallenSilent(node) : node))
}

function fallenSilent(node: Node): Node {
  const conditions = (node.status?.conditions ?? []).map((condition) =>
    condition.type === 'Ready' ? { ...condition, status: 'Unknown', reason: 'NodeStatusUnknown' } : condition,
  )
  return { ...node, status: { ...node.status, conditions } }
}
