import type { Node, Pod } from '@tranche/kube-types'
import { judgeNode, type NodeCounts, type NodeVerdict } from './judge-node.ts'
import { createPickSet, type PickSet } from './pick-set.ts'
import type { Target } from './pod-template.ts'
import type { RollingState } from './rolling-state.ts'

/** Indexed sources of a ledger, whose lookups take constant time. */
export interface LedgerSource {
  node(name: string): Node | undefined
  /** Pods of the DaemonSet that are bound or pinned to the node. */
  podsOn(name: string): readonly Pod[]
  /** Names of all nodes that exist or hold a pod of the DaemonSet. */
  nodeNames(): Iterable<string>
}

/** Sums of all verdicts, and the nodes that need work. */
export interface Ledger {
  readonly counts: NodeCounts
  /** Nodes whose relevant pod is available, including nodes where none should run. */
  readonly serving: number
  readonly creates: ReadonlySet<string>
  readonly removals: ReadonlySet<string>
  readonly ended: ReadonlySet<string>
  readonly releases: ReadonlySet<string>
  /** Nodes by their state in a rolling update. */
  readonly rolling: Readonly<Record<Unsettled, PickSet>>
  verdict(name: string): NodeVerdict | undefined
}

type Unsettled = Exclude<RollingState['kind'], 'settled'>

/** Verdicts on all nodes for one DaemonSet; re-evaluates only those that may have changed. */
export interface NodeLedger {
  /** Marks that the node or its pods have changed. */
  touch(name: string): void
  /**
   * Updates every verdict: all of them when the DaemonSet or its revision has changed, else those marked and those that time alone may have
   * changed.
   */
  read(target: Target, nowMs: number): Ledger
}

/** @returns empty ledger: its first `read` evaluates every node */
export function createNodeLedger(source: LedgerSource): NodeLedger {
  const touched = new Set<string>()
  let sums = createSums()
  let judgedFor: string | undefined

  return {
    touch: (name) => void touched.add(name),
    read(target, nowMs) {
      const subject = subjectOf(target)
      if (judgedFor !== subject) {
        judgedFor = subject
        sums = createSums()
        for (const name of source.nodeNames()) touched.add(name)
      }
      for (const name of sums.ripening) touched.add(name)
      for (const name of touched) sums.put(name, judgeNode(target, source.node(name), source.podsOn(name), nowMs))
      touched.clear()
      return sums
    },
  }
}

/** Inputs of verdicts beside node and pods; any change of the spec increments the generation. */
function subjectOf({ daemonSet, hash }: Target): string {
  return `${daemonSet.metadata.uid}/${daemonSet.metadata.generation}/${hash}`
}

interface Sums extends Ledger {
  readonly ripening: ReadonlySet<string>
  put(name: string, verdict: NodeVerdict): void
}

function createSums(): Sums {
  const verdicts = new Map<string, NodeVerdict>()
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 }
  const fields = Object.keys(counts) as readonly (keyof NodeCounts)[]
  const sets = {
    creates: new Set<string>(),
    removals: new Set<string>(),
    ended: new Set<string>(),
    releases: new Set<string>(),
    ripening: new Set<string>(),
  }
  const rolling = createRollingSets()
  let serving = 0

  function put(name: string, verdict: NodeVerdict): void {
    const before = verdicts.get(name)
    for (const field of fields) counts[field] += verdict.counts[field] - (before?.counts[field] ?? 0)
    serving += Number(verdict.serving) - Number(before?.serving ?? false)
    verdicts.set(name, verdict)
    mark(sets.creates, name, verdict.create)
    mark(sets.removals, name, verdict.remove.length > 0)
    mark(sets.ended, name, verdict.ended.length > 0)
    mark(sets.releases, name, verdict.release.length > 0)
    mark(sets.ripening, name, verdict.ripening)
    if (before !== undefined && before.rolling.kind !== 'settled') rolling[before.rolling.kind].delete(name)
    if (verdict.rolling.kind !== 'settled') rolling[verdict.rolling.kind].add(name)
  }

  return {
    ...sets,
    counts,
    rolling,
    get serving() {
      return serving
    },
    verdict: (name) => verdicts.get(name),
    put,
  }
}

function createRollingSets(): Readonly<Record<Unsettled, PickSet>> {
  return {
    unavailable: createPickSet(),
    replaceNow: createPickSet(),
    candidate: createPickSet(),
    surging: createPickSet(),
    surgeNow: createPickSet(),
    surgeCandidate: createPickSet(),
    retire: createPickSet(),
    setAside: createPickSet(),
    lost: createPickSet(),
  }
}

function mark(set: Set<string>, name: string, member: boolean): void {
  if (member) set.add(name)
  else set.delete(name)
}
