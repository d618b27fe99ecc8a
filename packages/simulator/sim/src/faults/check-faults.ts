import { type SimFaults, durationMs } from '@tranche/api-schema'
import type { FaultFinding } from './parse-faults.ts'
import { textMatcher } from './match.ts'

/** What a fault document is checked against. */
export interface ClusterNames {
  readonly nodes: readonly string[]
  /** Served resources and subresources: `pods`, `pods/status`. */
  readonly resources: readonly string[]
}

/** @returns findings about missing nodes and resources; nodes that the document adds exist from then on */
export function checkFaults(document: SimFaults, cluster: ClusterNames): readonly FaultFinding[] {
  return [...checkNodes(document, cluster.nodes), ...checkResources(document, cluster.resources)]
}

/** @returns start of each fault, in milliseconds from the acceptance of the document; `after` counts from the fault before */
export function beginningsOf({ faults }: SimFaults): readonly number[] {
  let beforeMs = 0
  return faults.map(({ at, after }) => {
    beforeMs = at !== undefined ? durationMs(at) : after !== undefined ? beforeMs + durationMs(after) : 0
    return beforeMs
  })
}

/** Faults in order of time, so that a node may be added first and go down later, in any document order. */
function checkNodes(document: SimFaults, existing: readonly string[]): readonly FaultFinding[] {
  const known = new Set(existing)
  const beginnings = beginningsOf(document)
  const inTime = document.faults.map((fault, index) => ({ fault, index })).toSorted((a, b) => beginnings[a.index]! - beginnings[b.index]!)
  const findings: FaultFinding[] = []
  for (const { fault, index } of inTime) {
    if (!('nodes' in fault)) continue
    for (const [at, name] of fault.nodes.entries()) {
      const path = `faults[${index}].nodes[${at}]`
      const adds = fault.kind === 'NodeAdd'
      if (adds && !isNodeName(name))
        findings.push({ path, value: JSON.stringify(name), fix: 'give a name of small letters, digits, - and .' })
      else if (adds && known.has(name)) findings.push({ path, value: JSON.stringify(name), fix: 'give a name that no node has by then' })
      else if (!adds && !known.has(name))
        findings.push({ path, value: JSON.stringify(name), fix: `give a node that exists by then: ${someOf([...known])}` })
      if (adds) known.add(name)
      if (fault.kind === 'NodeRemove') known.delete(name)
    }
  }
  return findings
}

function checkResources({ faults }: SimFaults, served: readonly string[]): readonly FaultFinding[] {
  return faults.flatMap((fault, index) =>
    ('resources' in fault ? (fault.resources ?? []) : []).flatMap((pattern, at) => {
      const matches = textMatcher([pattern])
      if (served.some(matches)) return []
      const fix = 'give a resource that is served, in the plural and without its group, as pods, batchreleases/status or *'
      return [{ path: `faults[${index}].resources[${at}]`, value: JSON.stringify(pattern), fix }]
    }),
  )
}

/** @see Kubernetes: DNS subdomain names */
function isNodeName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)
}

function someOf(names: readonly string[]): string {
  if (names.length === 0) return 'there is none'
  const sorted = names.toSorted()
  return sorted.length <= 3 ? sorted.join(', ') : `${sorted[0]}, ${sorted[1]} … ${sorted.at(-1)}`
}
