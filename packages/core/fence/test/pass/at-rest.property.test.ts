import type { Permit } from '@tranche/api-schema'
import { aNode, aPermit, aPod, type SeenPod } from '@tranche/testing'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hashOf, isReady, type NodeTruth, type RuledCluster, stands, truthOf } from './generated-pass.ts'
import { type RestingPass, restingPasses } from './resting-pass.ts'

it('a pass does not rest while it could continue with a broken node for which its permits wait (G6)', () => {
  fc.assert(
    fc.property(restingPasses(withReadyPermits), (pass) => {
      const waitedFor = brokenNodesWaitedFor(pass)
      if (waitedFor.length === 0) return
      const begun = [...(pass.view.prepared ?? [])].flatMap(([, done]) => done.filter(({ state }) => state === 'begun'))
      const isBusy = begun.length >= (pass.view.preparation?.ahead ?? Number.POSITIVE_INFINITY)
      expect(isBusy || waitedFor.some((node) => isUnderWay(pass, node)), waitedFor.join(' ')).toBe(true)
    }),
    { numRuns: 2_500 },
  )
})

it('covers permits that wait for broken nodes: blocked ones, prepared ones, and beside a batch that lacks others', () => {
  const waiting = fc
    .sample(restingPasses(withReadyPermits), { numRuns: 1_000, seed: 1 })
    .filter((pass) => brokenNodesWaitedFor(pass).length > 0)
  const count = (met: (pass: RestingPass) => boolean): number => waiting.filter(met).length
  const counts = {
    all: waiting.length,
    blocked: count(({ view }) => [...view.checks.values()].some(({ check }) => check.kind === 'blocked')),
    preparedAhead: count(({ view }) => (view.preparation?.ahead ?? 0) > 0),
    otherPrepared: count(({ view }) => [...(view.prepared ?? [])].some(([, done]) => done.some(({ state }) => state === 'ready'))),
  }
  for (const [what, passes] of Object.entries(counts)) expect(passes, what).toBeGreaterThan(10)
})

/**
 * The generated cluster with a limit of one and five healthy nodes more. Three of these have the only permits of a record that is open for all
 * nodes; no other is appended beside them for now.
 */
function withReadyPermits({ nodes, pods, record, ...cluster }: RuledCluster): RuledCluster {
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `healthy-${name}`)
  const healthy = names.map((node) => aPod({ node, name: `pod-${node}`, hash: 'old', resourceVersion: '10' }))
  return {
    ...cluster,
    nodes: [...names.map((name) => aNode(name)), ...nodes.slice(0, 4)],
    pods: [...healthy.map((pod) => ({ pod, seenForMs: 3_600_000 })), ...pods],
    record: { ...record, limit: 1, partition: 0, size: names.length + 4, permits: healthy.slice(0, 3).map(aPermit) },
  }
}

/**
 * Nodes with a broken old pod and without a permit, while the first permit waits for the budget that such nodes use up. Without any in
 * flight, and without spread rules, only an update of one of them frees it.
 */
function brokenNodesWaitedFor({ cluster, view }: RestingPass): readonly string[] {
  const truth = truthOf(cluster)
  const { permits, limit } = cluster.record
  if (view.sent.size > 0 || view.nodes?.spread !== undefined || !permits.every((permit) => hasItsPod(truth.get(permit.node), permit)))
    return []
  const [head] = permits
  if (head === undefined || !isTakeable(truth.get(head.node)) || !hasReadyPod(truth.get(head.node))) return []
  const down = [...truth].filter(([name, node]) => name !== head.node && node.desired && !node.dead && !node.available)
  if (down.length < limit) return []
  const permitted = new Set(permits.map(({ node }) => node))
  return down.filter(([name, node]) => isTakeable(node) && node.old && !hasReadyPod(node) && !permitted.has(name)).map(([name]) => name)
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

/** Something was begun or done on the node, or a check of it is not due to be asked again. */
function isUnderWay({ view }: RestingPass, node: string): boolean {
  const reading = view.checks.get(node)
  const isKept = reading !== undefined && reading.check.kind !== 'ready' && view.monotonicMs < reading.againAtMs
  return isKept || (view.prepared?.get(node) ?? []).some(({ isAhead, isStale }) => isAhead && !isStale)
}
