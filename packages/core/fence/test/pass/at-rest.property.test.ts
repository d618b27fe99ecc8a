import type { Permit } from '@tranche/api-schema'
import type { Preparation } from '@tranche/fence'
import { aNode, aPermit, aPod, type SeenPod } from '@tranche/testing'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { exemptIn, hashOf, isFlying, isReady, lackOf, type NodeTruth, type RuledCluster, stands, truthOf } from './generated-pass.ts'
import { type RestingPass, restingPasses } from './resting-pass.ts'

it('a pass does not rest while it could continue with a node that its permits keep from the budget (G6)', () => {
  fc.assert(
    fc.property(restingPasses(withReadyPermits), (pass) => {
      const idle = nodesKeptWaiting(pass).filter((node) => !isKept(pass, node) && !isPreparedAs(pass, node, 'begun'))
      if (idle.length === 0) return
      const { view, cluster } = pass
      const taken = [...(view.prepared ?? [])].filter(
        ([node]) => isPreparedAs(pass, node, 'begun') || (isPreparedAs(pass, node, 'ready') && isKept(pass, node)),
      )
      const places = Math.min(view.preparation?.ahead || Number.POSITIVE_INFINITY, Math.max(1, lackOf(cluster, truthOf(cluster))))
      expect(taken.length >= places && !idle.some((node) => isPreparedAs(pass, node, 'ready')), idle.join(' ')).toBe(true)
    }),
    { numRuns: 2_500 },
  )
})

it('covers permits that wait: for broken nodes, for zones and for nodes in flight, beside blocked and prepared nodes', () => {
  const waiting = fc
    .sample(restingPasses(withReadyPermits), { numRuns: 1_000, seed: 1 })
    .filter((pass) => nodesKeptWaiting(pass).length > 0)
  const count = (met: (pass: RestingPass) => boolean): number => waiting.filter(met).length
  const counts = {
    all: waiting.length,
    inFlight: count(({ cluster }) => cluster.record.permits.length > 3),
    blocked: count(({ view }) => [...view.checks.values()].some(({ check }) => check.kind === 'blocked')),
    spread: count(({ view }) => view.nodes?.spread !== undefined),
    preparedAhead: count(({ view }) => (view.preparation?.ahead ?? 0) > 0),
    otherPrepared: count(({ view }) => [...(view.prepared ?? [])].some(([, done]) => done.some(({ state }) => state === 'ready'))),
  }
  for (const [what, passes] of Object.entries(counts)) expect(passes, what).toBeGreaterThan(10)
})

/**
 * The generated cluster with a limit of one or two and five healthy nodes more. Three of these have the only permits of a record that is open for
 * all nodes; no other is appended beside them for now.
 */
function withReadyPermits({ nodes, pods, record, ...cluster }: RuledCluster): RuledCluster {
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `healthy-${name}`)
  const healthy = names.map((node) => aPod({ node, name: `pod-${node}`, hash: 'old', resourceVersion: '10' }))
  const kept = { ...cluster, nodes: nodes.slice(0, 4), pods, record }
  const truth = truthOf(kept)
  const flying = record.permits.filter(
    (permit) => kept.nodes.some(({ metadata }) => metadata.name === permit.node) && isFlying(permit, truth),
  )
  return {
    ...cluster,
    nodes: [...names.map((name) => aNode(name)), ...kept.nodes],
    pods: [...healthy.map((pod) => ({ pod, seenForMs: 3_600_000 })), ...pods],
    record: {
      ...record,
      limit: Math.min(2, record.limit),
      partition: 0,
      size: names.length + 4,
      permits: [...flying, ...healthy.slice(0, 3).map(aPermit)],
    },
  }
}

/**
 * Nodes without a permit whose pod could be deleted at once without the unused permits, none of which can be used. Nodes in flight may never recover, so
 * nothing but an update of such a node is sure to end that.
 */
function nodesKeptWaiting({ cluster, view }: RestingPass): readonly string[] {
  const truth = truthOf(cluster)
  const { permits } = cluster.record
  const isOpen = [...view.confirmations.values()].some(({ kind }) => kind === 'open')
  const flying = permits.filter((permit) => isFlying(permit, truth)).map(({ node }) => node)
  const standing = permits.filter((permit) => !isFlying(permit, truth))
  const isOtherwise = isOpen || view.sent.size > 0 || !standing.every(({ node }) => isTakeable(truth.get(node)))
  if (isOtherwise || !standing.every((permit) => hasItsPod(truth.get(permit.node), permit))) return []
  const permitted = standing.map(({ node }) => node)
  const fits = budgetOf({ cluster, view }, flying)
  if (permitted.length === 0 || permitted.some((node, at) => fits(node, permitted.slice(0, at)))) return []
  // Time alone makes a fresh pod available, which may end the wait.
  const isFresh = (node: NodeTruth): boolean => hasReadyPod(node) && !node.available
  const others = [...truth].filter(([name, node]) => isTakeable(node) && node.old && !isFresh(node) && !permitted.includes(name))
  return others.flatMap(([name]) => (fits(name, []) ? [name] : []))
}

/** The budget, counted independently: of the limit, and of the zone where the policy spreads. `before`: nodes whose permits come first. */
function budgetOf(
  { cluster, view }: Pick<RestingPass, 'cluster' | 'view'>,
  flying: readonly string[],
): (node: string, before: readonly string[]) => boolean {
  const truth = truthOf(cluster)
  const zoneOf = (name: string): string | undefined => cluster.nodes.find(({ metadata }) => metadata.name === name)?.metadata.labels?.zone
  const desired = [...truth].filter(([, node]) => node.desired)
  const exempt = exemptIn(desired, cluster.notReady)
  const down = desired.flatMap(([name, node]) => (!exempt.has(name) && !node.available ? [name] : []))
  const isBelow = (most: number, counts: (name: string) => boolean, node: string, before: readonly string[]): boolean => {
    const countOf = (names: readonly string[]): number => new Set(names.filter((name) => name !== node && counts(name))).size
    const taken = [...flying, ...before]
    return countOf(taken) < most && (!hasReadyPod(truth.get(node)) || countOf([...down, ...taken]) < most)
  }
  return (node, before) => {
    const isInZone = (name: string): boolean => zoneOf(name) === zoneOf(node)
    return (
      isBelow(cluster.record.limit, () => true, node, before) && (view.nodes?.spread === undefined || isBelow(1, isInZone, node, before))
    )
  }
}

function isTakeable(node: NodeTruth | undefined): boolean {
  return node?.desired === true && node.inReach
}

function hasReadyPod(node: NodeTruth | undefined): boolean {
  return node?.pods.some(({ pod }) => stands(pod) && isReady(pod)) === true
}

function hasItsPod(node: NodeTruth | undefined, { podUid, podResourceVersion }: Permit): boolean {
  const isSame = (pod: SeenPod['pod']): boolean => pod.metadata.uid === podUid && pod.metadata.resourceVersion === podResourceVersion
  return node?.pods.some(({ pod }) => isSame(pod) && stands(pod) && hashOf(pod) !== 'new') === true
}

/** A check of the node found it not ready, and is not due to be asked again. */
function isKept({ view }: RestingPass, node: string): boolean {
  const reading = view.checks.get(node)
  return reading !== undefined && reading.check.kind !== 'ready' && view.monotonicMs < reading.againAtMs
}

function isPreparedAs({ view }: RestingPass, node: string, as: Preparation['state']): boolean {
  return (view.prepared?.get(node) ?? []).some(({ state, isAhead, isStale }) => state === as && isAhead && !isStale)
}
