import type { Permit } from '@tranche/api-schema'
import { FleetIndex, toFleetNode, toFleetPod } from '@tranche/fleet'
import { batchScope, permitId, type PassPlan, type PassView } from '@tranche/fence'
import { FLEET_OWNER, type GeneratedCluster, generatedClusters, nodeOfPod, type SeenPod } from '@tranche/testing'
import fc from 'fast-check'
import { scopeTextOf } from '../../src/nodes/batch-scope.ts'
import { publishedTargetOf, NOW_MS } from './pass-notation.ts'

/** A generated cluster, and the policy of its release for dead nodes; without one where it has none. */
export interface RuledCluster extends GeneratedCluster {
  readonly notReady?: DeadRule | undefined
  /** Revisions that were stable once, or ran before the first release. */
  readonly former?: readonly string[]
}

/** `nodes.notReady` of a policy, and what it means: `after` in milliseconds, and how many of `desired` nodes may be dead. */
interface DeadRule {
  readonly exempt: number | string
  readonly after: string
  readonly afterMs: number
  readonly most: (desired: number) => number
}

/** A generated cluster, the view of a pass on it, and the truth about it, computed independently of the code under test. */
export interface GeneratedPass {
  readonly cluster: RuledCluster
  readonly view: PassView
}

const deadRule: fc.Arbitrary<DeadRule> = fc
  .tuple(
    fc.constantFrom(
      { exempt: 0, most: () => 0 },
      { exempt: 1, most: () => 1 },
      { exempt: 3, most: () => 3 },
      { exempt: '25%', most: (desired: number) => Math.ceil(desired / 4) },
      { exempt: '100%', most: (desired: number) => desired },
      { exempt: 'some', most: () => 0 },
    ),
    fc.constantFrom({ after: '0s', afterMs: 0 }, { after: '5m', afterMs: 300_000 }, { after: 'soon', afterMs: Number.POSITIVE_INFINITY }),
  )
  .map(([most, after]) => ({ ...most, ...after }))

/** Passes without disagreement, over clusters in every state; some permits were sent without a visible outcome. */
export function generatedPasses(): fc.Arbitrary<GeneratedPass> {
  return fc
    .tuple(
      generatedClusters(),
      fc.constantFrom(0, 0, 0, 2, 3),
      fc.option(deadRule, { nil: undefined }),
      fc.constantFrom([], [], ['older'], ['unknown', 'older']),
    )
    .map(([generated, everySent, notReady, former]) => {
      const { exempt, after } = notReady ?? {}
      const scope = scopeTextOf(batchScope(notReady && { notReady: { exempt, after } }, null))
      const cluster = { ...generated, record: { ...generated.record, scope }, notReady, former }
      const sent = cluster.record.permits.filter((_, at) => everySent > 0 && at % everySent === 0)
      return { cluster, view: toView(cluster, sent) }
    })
}

/** The view of a pass that has read every pod; nodes and pods arrive in the order in which the cluster lists them. */
export function toView(cluster: RuledCluster, sent: readonly Permit[] = []): PassView {
  const index = new FleetIndex()
  for (const node of cluster.nodes)
    index.nodeChanged(undefined, toFleetNode(node, undefined, { nowMs: 0, monotonicMs: NOW_MS - seenNotReadyMs(node.metadata.name) }))
  for (const { pod, seenForMs } of cluster.pods) {
    index.podChanged(undefined, toFleetPod(pod, undefined, { nowMs: 0, monotonicMs: NOW_MS - seenForMs })!)
  }
  return {
    published: { ...publishedTargetOf(cluster.record), minReadySeconds: cluster.minReadySeconds },
    releaseUid: 'release',
    record: cluster.record,
    ...(cluster.notReady && { nodes: { notReady: { exempt: cluster.notReady.exempt, after: cluster.notReady.after } } }),
    formerRevisions: cluster.former,
    fleet: index.view(FLEET_OWNER),
    podsSeen: '9999',
    sent: new Set(sent.map(permitId)),
    checks: new Map(),
    confirmations: new Map(cluster.record.permits.map((permit) => [permitId(permit), { kind: 'confirmed' }])),
    isBad: false,
    monotonicMs: NOW_MS,
  }
}

/** For how long the process has seen a node NotReady: every second one for longer than five minutes. */
export function seenNotReadyMs(name: string): number {
  return Number(/\d+$/.exec(name)?.[0]) % 2 === 0 ? 301_000 : 299_000
}

/** The truth about one node, in the words of the guarantees. */
export interface NodeTruth {
  readonly desired: boolean
  readonly isReady: boolean
  /** The node is not in maintenance, and it is Ready, or its kubelet answers and it runs a superseded revision. */
  readonly inReach: boolean
  readonly pods: readonly SeenPod[]
  /**
   * The node does not answer, is in maintenance, or has been NotReady for five minutes or as long as the policy says. It runs the stable
   * revision, one of unknown name, or a former one, and no other. It has no permit whose pod is terminating or gone.
   */
  readonly dead: boolean
  /** As `dead`, but with such a permit, and an old pod that is not terminating: it counts among the dead ones, and is never exempt. */
  readonly deadInFlight: boolean
  /** The node has an available, non-terminating pod. */
  readonly available: boolean
  /** The node has a standing pod on a revision other than the record's. */
  readonly old: boolean
}

/** The truth about every node that exists or has a pod, by name. */
export function truthOf({ nodes, pods, record, minReadySeconds, notReady, former = [] }: RuledCluster): ReadonlyMap<string, NodeTruth> {
  const names = new Set([...nodes.map(({ metadata }) => metadata.name), ...pods.map(({ pod }) => nodeOfPod(pod))])
  return new Map(
    [...names].map((name) => {
      const node = nodes.find(({ metadata }) => metadata.name === name)
      const here = pods.filter(({ pod }) => nodeOfPod(pod) === name)
      const health = node?.status?.conditions?.[0]?.status
      const inMaintenance = node?.status?.conditions?.some(({ type }) => type === 'DrainInProgress') === true
      const hasSuperseded = here.some(({ pod }) => stands(pod) && !['old', 'new', ...former].includes(hashOf(pod) ?? ''))
      const inReach = !inMaintenance && (health === 'True' || (health === 'False' && hasSuperseded))
      const available = here.some(({ pod, seenForMs }) => stands(pod) && isReady(pod) && seenForMs >= minReadySeconds * 1000)
      const old = here.some(({ pod }) => stands(pod) && hashOf(pod) !== record.revision)
      const isBefore = here.every(({ pod }) => hashOf(pod) !== record.revision && ['old', ...former].includes(hashOf(pod) ?? ''))
      const isEnding = here.length > 0 && here.every(({ pod }) => !stands(pod))
      const isLeftByOthers = isEnding && isBefore
      const isInFlight = record.permits.some(
        ({ node: permitted, podUid }) => permitted === name && !here.some(({ pod }) => stands(pod) && pod.metadata.uid === podUid),
      )
      const isLost = inMaintenance || health === 'Unknown' || (health === 'False' && seenNotReadyMs(name) >= (notReady?.afterMs ?? 300_000))
      const isAway = isLost && !inReach && !hasSuperseded && !available
      const truth: NodeTruth = {
        desired: node !== undefined && node.spec?.taints?.every(({ key }) => key.startsWith('node.kubernetes.io/')) === true,
        isReady: health === 'True',
        inReach,
        pods: here,
        dead: isAway && (old || isLeftByOthers) && !isInFlight,
        deadInFlight: isAway && old && isInFlight,
        available,
        old,
      }
      return [name, truth]
    }),
  )
}

/** F6: its pod is gone and the node has an available one; a node that is no longer desired never settles in a count. */
export function isSettled({ node, podUid }: Permit, truth: ReadonlyMap<string, NodeTruth>): boolean {
  const known = truth.get(node)
  return known?.desired === true && known.available && !known.pods.some(({ pod }) => pod.metadata.uid === podUid)
}

/** Its pod is terminating or gone, and has not settled: the view shows it as deleted by Tranche. */
export function isFlying(permit: Permit, truth: ReadonlyMap<string, NodeTruth>): boolean {
  const pod = truth.get(permit.node)?.pods.find((seen) => seen.pod.metadata.uid === permit.podUid)?.pod
  return pod === undefined ? !isSettled(permit, truth) : !stands(pod)
}

/** Dead nodes, unless more are dead than the policy exempts. */
export function exemptIn(desired: readonly (readonly [string, NodeTruth])[], rule: DeadRule | undefined): ReadonlySet<string> {
  const dead = desired.filter(([, node]) => node.dead).map(([name]) => name)
  const deadInFlight = desired.filter(([, node]) => node.deadInFlight)
  const most = rule?.most(desired.length) ?? Math.ceil(desired.length / 10)
  return new Set(dead.length + deadInFlight.length <= most ? dead : [])
}

/** What the batch lacks (G3): its size minus the nodes that run, or will come back on, the revision, or have a permit. */
export function lackOf({ record, notReady }: RuledCluster, truth: ReadonlyMap<string, NodeTruth>): number {
  const desired = [...truth].filter(([, node]) => node.desired)
  const taken = permittedNodes(record.permits, truth)
  const exempt = exemptIn(desired, notReady)
  const onTheWay = desired.filter(([name, node]) => (!node.old && !exempt.has(name)) || taken.has(name))
  return Math.max(0, desired.length - record.partition) - onTheWay.length
}

/** Nodes with a permit; an executed permit does not cover an old pod that came up later on the node. */
export function permittedNodes(permits: readonly Permit[], truth: ReadonlyMap<string, NodeTruth>): ReadonlySet<string> {
  return new Set(permits.filter((permit) => !isFlying(permit, truth)).map(({ node }) => node))
}

/** Permits that the plan executes. */
export function executedBy(plan: PassPlan): readonly Permit[] {
  return plan.kind === 'execute' ? plan.pods.map(({ permit }) => permit) : []
}

/** Permits that the plan appends. */
export function appendedBy(plan: PassPlan): readonly Permit[] {
  return plan.kind === 'changePermits' ? plan.change.append : []
}

/** The pod of a permit, exactly as the permit has it; undefined where there is none. */
export function podOf({ pods }: GeneratedCluster, permit: Permit): SeenPod['pod'] | undefined {
  return pods.find(
    ({ pod }) =>
      pod.metadata.uid === permit.podUid && pod.metadata.resourceVersion === permit.podResourceVersion && nodeOfPod(pod) === permit.node,
  )?.pod
}

/** Not terminating. */
export function stands(pod: SeenPod['pod']): boolean {
  return pod.metadata.deletionTimestamp === undefined
}

/** Its Ready condition is True. */
export function isReady(pod: SeenPod['pod']): boolean {
  return pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true
}

/** Its revision; undefined where the label is missing. */
export function hashOf(pod: SeenPod['pod']): string | undefined {
  return pod.metadata.labels?.['controller-revision-hash']
}
