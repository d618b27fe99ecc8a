import type { NodeReport } from '@tranche/api-schema'
import { BY_STAMPS, FleetIndex, type FleetView, nodeInView, toFleetNode, toFleetPod, toFleetView } from '@tranche/fleet'
import { nodeOutlook } from '@tranche/fence'
import { toPublishedTarget } from '@tranche/planner'
import {
  explainNode,
  explainRollout,
  isTimeless,
  outcomeOf,
  type ReleaseFacts,
  reportBatches,
  reportNodes,
  reportNodesUntil,
  reportRevisions,
  reportRollout,
  summarizeRollout,
} from '@tranche/reports'
import { FLEET_OWNER, type GeneratedCluster, generatedClusters } from '@tranche/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aReading } from './build-facts.ts'

const NOW_MS = 10_000_000

describe('reports of any cluster', () => {
  it('count every desired node once in each count, and list those that were lost after their update as well', () => {
    holds((facts, cluster) => {
      const nodes = reportNodes(facts)
      const { zones, nodes: counts } = reportRollout(facts)
      const ofZones = zones.flatMap(({ states }) => Object.values(states)).reduce((sum, count) => sum + count, 0)
      const lost = (facts.fleet?.nodes ?? []).filter(
        ({ desiredOnReturn, pods }) => desiredOnReturn === true && pods.some(({ hash, terminating }) => hash === 'new' && !terminating),
      )
      expect(nodes).toHaveLength(counts.desired + lost.length)
      expect(ofZones).toBe(counts.desired + lost.length)
      expect(counts.updatedAvailable).toBeLessThanOrEqual(counts.updated)
      expect(counts.skipped).toBeLessThanOrEqual(counts.desired)
      expect(reportRevisions(facts).reduce((sum, one) => sum + one.nodes, 0)).toBeLessThanOrEqual(counts.desired)
      expect(cluster.nodes.length).toBeGreaterThanOrEqual(counts.desired)
    })
  })

  it('show the same number of each state in zones and nodes', () => {
    holds((facts) => {
      const states = Object.groupBy(reportNodes(facts), ({ state }: NodeReport) => state)
      const seen = Object.fromEntries(Object.entries(states).map(([state, nodes]) => [state, nodes.length]))
      const counted: Record<string, number> = {}
      for (const zone of reportRollout(facts).zones)
        for (const [state, count] of Object.entries(zone.states)) counted[state] = (counted[state] ?? 0) + count
      expect(counted).toEqual(seen)
    })
  })

  it('are the same from scratch and incrementally', () => {
    holds((facts) => {
      const fresh = { ...facts, fleet: toFleetView(facts.fleet?.nodes ?? []) }
      summarizeRollout({ ...facts, monotonicMs: facts.monotonicMs - 3_590_000 })
      reportRollout({ ...facts, monotonicMs: facts.monotonicMs - 3_590_000 })
      expect(reportRollout(facts)).toEqual(reportRollout(fresh))
    })
  })

  it('of nodes are the same from scratch and with the reports that were kept', () => {
    holds((facts) => {
      reportNodes({ ...facts, monotonicMs: facts.monotonicMs - 59_000, release: undefined })
      reportNodes({ ...facts, monotonicMs: facts.monotonicMs - 30_000 })
      expect(reportNodes(facts)).toEqual(reportNodes(fresh(facts)))
      expect(reportNodes(facts).every((node, at) => node === reportNodes(facts)[at])).toBe(true)
    })
  })

  it('of nodes stay the same at least until the time that they state', () => {
    holds((facts) => {
      const { nodes, changesAtMs } = reportNodesUntil(facts)
      const leftMs = Math.min(changesAtMs - facts.nowMs, 3_600_000)
      expect(leftMs).toBeGreaterThan(0)
      expect(reportNodes(fresh(later(facts, leftMs - 1)))).toEqual(nodes)
    })
  })

  it('of nodes name as many nodes that cost no budget as the budget has, and no healthy one', () => {
    holds((facts) => {
      const { budget, phase } = reportRollout(facts)
      const nodes = reportNodes(facts)
      if (budget === undefined || phase !== 'Progressing') return
      const outOfReach = nodes.filter((node) => node.budget !== undefined)
      expect(outOfReach.length).toBe(budget.unreachable)
      expect(outOfReach.filter((node) => node.budget?.counts === false).length).toBe(budget.exempt)
      expect(outOfReach.filter((node) => ['Exempt', 'TooManyDead'].includes(node.budget!.reason)).length).toBe(budget.dead)
    })
  })

  it('explain every listed node, and say Updated only for updated nodes', () => {
    holds((facts) => {
      for (const { name, state } of reportNodes(facts)) {
        const said = explainNode(facts, name)
        expect(said?.answer).toContain(name)
        expect(said?.rule === 'Updated').toBe(state === 'updated')
      }
    })
  })

  it('never say Done while an old pod runs on a node that could be updated', () => {
    holds((facts) => {
      const healthy: ReleaseFacts = { ...facts, release: undefined, rollout: atRest(facts) }
      if (outcomeOf(healthy) !== 'Done') return
      const left = reportNodes(healthy).filter(
        ({ revision, state, pod }) => pod !== undefined && revision !== 'new' && state !== 'updating',
      )
      const isOutOfService = (name: string): boolean => nodeInView(healthy.fleet!, name)?.maintenance !== undefined
      expect(left.filter(({ state, name }) => state !== 'notReady' && !isOutOfService(name))).toEqual([])
    })
  })

  it('stay the same at any later time where the summary is timeless', () => {
    let timeless = 0
    holds((facts) => {
      for (const rollout of [facts.rollout, atRest(facts)]) {
        const some = { ...facts, rollout, fleet: healthyPart(facts) }
        for (const read of [{ ...facts, rollout }, some, { ...some, release: undefined }]) {
          const summary = summarizeRollout(read)
          if (!isTimeless(summary)) continue
          timeless++
          for (const ms of [1, 60_000, 86_400_000]) expect(summarizeRollout(fresh(later(read, ms)))).toEqual(summary)
        }
      }
    })
    expect(timeless).toBeGreaterThan(20)
  })

  it('let batches hold no more nodes than there are', () => {
    holds((facts) => {
      const { desired } = summarizeRollout(facts).nodes
      for (const { nodes, updated, available } of reportBatches(facts)) {
        expect(nodes).toBeLessThanOrEqual(desired)
        expect(available).toBeLessThanOrEqual(updated)
      }
    })
  })
})

describe('the outlook of a node', () => {
  it('puts each waiting node behind a different number of nodes', () => {
    holds((facts) => {
      const ahead = reportNodes(facts).flatMap(({ name }) => {
        const said = outlookIn(facts, name)
        return said !== null && 'ahead' in said ? [said.ahead] : []
      })
      expect(new Set(ahead).size).toBe(ahead.length)
    })
  })
})

describe('reports of any status', () => {
  it('are independent of the messages, except in their texts', () => {
    const words = fc.constantFrom(
      'step 1 of 2 (40%): 2 more nodes are to be updated',
      'waiting for new pods on node-1',
      'settling: ',
      'revision a was rolled back',
    )
    fc.assert(
      fc.property(generatedClusters(), fc.array(words, { minLength: 4, maxLength: 4 }), reasons(), (cluster, texts, reason) => {
        const facts = worded(toFacts(cluster), texts, reason)
        expect(decisionsIn(facts)).toEqual(decisionsIn(worded(facts, ['x', 'x', 'x', 'x'], reason)))
      }),
      { numRuns: 100 },
    )
  })
})

function reasons(): fc.Arbitrary<string> {
  return fc.constantFrom('NotAvailable', 'Upgrading', 'BudgetUsedUp', 'SpreadUsedUp', 'Soak')
}

/** The same with these messages: of the Rollout, of what it waits for, of its Stalled condition, and of what the BatchRelease waits for. */
function worded(
  facts: ReleaseFacts,
  [message = '', waits = '', stalled = '', batch = '']: readonly string[],
  reason: string,
): ReleaseFacts {
  const { rollout, release } = facts
  const conditions = [
    { type: 'Progressing', status: 'True', reason: 'InRolling', message },
    { type: 'Stalled', status: 'True', reason: 'PodsStuck', message: stalled },
  ] as const
  const since = '2023-11-14T22:00:00Z'
  const waiting = { reason, message: batch, since, nodes: [] }
  return {
    ...facts,
    rollout: { ...rollout, status: { ...rollout.status!, message, conditions, waitingFor: { reason, message: waits, nodes: [] } } },
    release: release && { ...release, status: { ...release.status, waiting } },
  }
}

/** Reports without texts for people. */
function decisionsIn(facts: ReleaseFacts): unknown {
  const reported = { summary: summarizeRollout(facts), report: reportRollout(facts), rule: explainRollout(facts).rule }
  return JSON.parse(JSON.stringify(reported, (key, value: unknown) => (key === 'message' ? undefined : value)))
}

function outlookIn({ daemonSet, release, fleet, monotonicMs }: ReleaseFacts, name: string): ReturnType<typeof nodeOutlook> {
  if (daemonSet === undefined || release === undefined || fleet === undefined) return null
  const record = release.status?.flight
  return nodeOutlook(
    {
      published: toPublishedTarget(daemonSet),
      releaseUid: 'release',
      record,
      fleet,
      podsSeen: '9999',
      sent: new Set(),
      checks: new Map(),
      confirmations: new Map(),
      isBad: false,
      monotonicMs,
    },
    name,
  )
}

function holds(check: (facts: ReleaseFacts, cluster: GeneratedCluster) => void): void {
  fc.assert(
    fc.property(generatedClusters(), (cluster) => check(toFacts(cluster), cluster)),
    { numRuns: 100 },
  )
}

/** The nodes whose only pod is of the new revision and has been Ready for an instant or longer; it may become available later. */
function healthyPart({ fleet }: ReleaseFacts): FleetView {
  const isHealthy = ({ pods: [pod, ...others] }: FleetView['nodes'][number]): boolean =>
    pod !== undefined && others.length === 0 && pod.hash === 'new' && pod.ready && !pod.terminating
  return toFleetView((fleet?.nodes ?? []).filter(isHealthy))
}

/** The same with other objects, for which nothing is kept. */
function fresh(facts: ReleaseFacts): ReleaseFacts {
  return { ...facts, fleet: toFleetView((facts.fleet?.nodes ?? []).map((node) => ({ ...node }))) }
}

function later(facts: ReleaseFacts, ms: number): ReleaseFacts {
  return { ...facts, nowMs: facts.nowMs + ms, monotonicMs: facts.monotonicMs + ms }
}

function toFacts(cluster: GeneratedCluster): ReleaseFacts {
  const steps = cluster.batches.map((replicas) => ({ replicas, pause: {} }))
  const facts = aReading({
    record: cluster.record,
    spec: { batches: cluster.batches.map((canaryReplicas) => ({ canaryReplicas })) },
    rollout: { strategy: { canary: { steps } } },
    daemonSet: { minReadySeconds: cluster.minReadySeconds },
  })
  return { ...facts, fleet: toFleet(cluster), monotonicMs: NOW_MS }
}

function toFleet(cluster: GeneratedCluster): FleetView {
  const index = new FleetIndex()
  for (const node of cluster.nodes) index.nodeChanged(undefined, toFleetNode(node, undefined, BY_STAMPS))
  for (const { pod, seenForMs } of cluster.pods) {
    index.podChanged(undefined, toFleetPod(pod, undefined, { nowMs: 0, monotonicMs: NOW_MS - seenForMs }) ?? undefined)
  }
  return index.view(FLEET_OWNER)
}

function atRest({ rollout }: ReleaseFacts): ReleaseFacts['rollout'] {
  const status = rollout.status!
  const canaryStatus = { ...status.canaryStatus!, currentStepState: 'Completed' as const, finalisingStep: 'END' as const }
  const conditions = [{ type: 'Progressing', status: 'False', reason: 'Completed', message: '' }] as const
  return { ...rollout, status: { ...status, phase: 'Healthy', canaryStatus, conditions } }
}
