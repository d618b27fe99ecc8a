import type { Permit, ReleaseNodeRules } from '@tranche/api-schema'
import {
  batchScope,
  type Confirmation,
  type NodeCheck,
  type NodeQuestion,
  type NodeReading,
  type PassPlan,
  type PassView,
  permitId,
  planPass,
  type Preparation,
} from '@tranche/fence'
import { nodeOfPod } from '@tranche/testing'
import fc from 'fast-check'
import { scopeTextOf } from '../../src/nodes/batch-scope.ts'
import { answered, type CheckAnswer, type Standing } from './answered-pass.ts'
import { generatedPasses, type RuledCluster, toView } from './generated-pass.ts'
import { NOW_MS, planText } from './pass-notation.ts'

/** A view whose pass waits. */
export interface RestingPass {
  readonly cluster: RuledCluster
  readonly view: PassView
  readonly plan: PassPlan & { kind: 'wait' }
}

/** Makes another cluster of a generated one. */
type ClusterChange = (cluster: RuledCluster) => RuledCluster

const reading = fc.record({
  answer: fc.constantFrom<NodeCheck['kind']>('ready', 'pending', 'blocked'),
  isForPermit: fc.boolean(),
  ageMs: fc.constantFrom(0, 1_000, 9_000, 12_000, 59_000, 61_000),
  againInMs: fc.constantFrom(500, 5_000, 15_000, 120_000),
})

const preparation = fc.record({
  state: fc.constantFrom<Preparation['state']>('begun', 'ready', 'failed'),
  isAhead: fc.boolean(),
  isStale: fc.constantFrom(false, false, false, true),
  changesInMs: fc.constantFrom(null, null, 2_000, 60_000),
})

const policy = fc.record({
  spreads: fc.boolean(),
  checksRoom: fc.boolean(),
  ahead: fc.constantFrom(undefined, 0, 1, 3),
  zones: fc.constantFrom(1, 2, 3),
})

/**
 * Passes that wait, after those before them took effect. Their policies ask for room, spread and preparations; answers are of any age, and
 * live reads are still to be repeated.
 *
 * @param change applied to each generated cluster
 */
export function restingPasses(change: ClusterChange = (cluster) => cluster): fc.Arbitrary<RestingPass> {
  return standings(change).map(({ standing, check }) => {
    const done: string[] = []
    for (let now = standing; done.length < 60; ) {
      const plan = planPass(now.view)
      if (plan.kind === 'wait') return { cluster: now.cluster, view: now.view, plan }
      done.push(planText(plan))
      now = answered(now, plan, check)
    }
    throw new Error(`never rests: ${done.slice(-6).join('; ')}`)
  })
}

function standings(change: ClusterChange): fc.Arbitrary<{ readonly standing: Standing; readonly check: CheckAnswer }> {
  return fc
    .record({
      pass: generatedPasses(),
      drawn: policy,
      readings: perNode(reading),
      /** Answers to the questions of the passes. */
      answers: fc.array(reading, { minLength: 24, maxLength: 24 }),
      preparations: perNode(preparation),
      openForMs: fc.constantFrom(0, 0, 1_000, 30_000),
      freshForMs: fc.constantFrom(0, 500, 2_000, 59_000),
    })
    .map(({ pass, drawn, readings, answers, preparations, openForMs, freshForMs }) => {
      const cluster = withPolicy(change(withOnePodPerNode(pass.cluster)), drawn, freshForMs)
      const names = cluster.nodes.map(({ metadata }) => metadata.name)
      const { permits } = cluster.record
      const ofNodes = <T, R>(all: readonly (T | undefined)[], to: (node: string, one: T) => R): ReadonlyMap<string, R> =>
        new Map(names.flatMap((node, at) => (all[at] === undefined ? [] : [[node, to(node, all[at])] as const])))
      const permitOf = (node: string): Permit | undefined => permits.find((permit) => permit.node === node)
      const asksChecks = drawn.checksRoom || drawn.ahead !== undefined
      const view: PassView = {
        ...toView(cluster),
        sent: pass.view.sent,
        nodes: cluster.rules,
        ...(openForMs > 0 && { confirmations: new Map(permits.map((permit) => [permitId(permit), openFor(openForMs, cluster, permit)])) }),
        ...(asksChecks && {
          checks: ofNodes(readings, (node, one) => toReading(one, permitOf(node) === undefined ? 'permit' : 'deletion', permitOf(node))),
        }),
        ...(drawn.ahead !== undefined && {
          preparation: { ahead: drawn.ahead },
          prepared: ofNodes(preparations, (node, one) => [toPreparation(node, one)]),
        }),
      }
      const check: CheckAnswer = ({ node, permit }: NodeQuestion, { purpose }, { prepared }) =>
        toReading({ ...answers[names.indexOf(node)]!, ageMs: 0, ...answerOf(prepared?.get(node)) }, purpose, permit)
      return { standing: { cluster, view }, check }
    })
}

function perNode<T>(drawn: fc.Arbitrary<T>): fc.Arbitrary<readonly (T | undefined)[]> {
  return fc.array(fc.option(drawn, { nil: undefined }), { minLength: 24, maxLength: 24 })
}

/** A node gets no second permit before the first is executed, and a second pod of it would be read in place of the first. */
function withOnePodPerNode(cluster: RuledCluster): RuledCluster {
  const pods = cluster.pods.filter((seen, at) => cluster.pods.findIndex(({ pod }) => nodeOfPod(pod) === nodeOfPod(seen.pod)) === at)
  const { permits } = cluster.record
  const stands = ({ podUid }: Permit): boolean => pods.some(({ pod }) => pod.metadata.uid === podUid)
  const gone = permits.filter((permit) => !stands(permit))
  return { ...cluster, pods, record: { ...cluster.record, permits: [...gone, ...permits.filter(stands)] } }
}

function withPolicy(
  cluster: RuledCluster,
  { spreads, checksRoom, zones }: Drawn<typeof policy>,
  freshForMs: number,
): RuledCluster & { readonly rules: ReleaseNodeRules | undefined } {
  const { notReady } = cluster
  const rules: ReleaseNodeRules = {
    ...(notReady && { notReady: { exempt: notReady.exempt, after: notReady.after } }),
    ...(spreads && { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] }),
    ...(checksRoom && { room: 'Check' as const }),
  }
  const hasRules = Object.keys(rules).length > 0
  return {
    ...cluster,
    nodes: cluster.nodes.map((node, at) => ({
      ...node,
      metadata: { ...node.metadata, labels: { ...node.metadata.labels, zone: `zone-${at % zones}` } },
    })),
    pods: cluster.pods.map((seen) => (seen.seenForMs > 60_000 ? seen : { ...seen, seenForMs: freshForMs })),
    record: { ...cluster.record, scope: scopeTextOf(batchScope(hasRules ? rules : undefined, null)) },
    rules: hasRules ? rules : undefined,
  }
}

function toReading(
  { answer, isForPermit, ageMs, againInMs }: Drawn<typeof reading>,
  purpose: NodeReading['purpose'],
  permit: Permit | undefined,
): NodeReading {
  return {
    check: toCheck(answer, purpose, againInMs),
    purpose,
    ...(isForPermit && permit !== undefined && { permitId: permitId(permit) }),
    readAtMs: NOW_MS - ageMs,
    againAtMs: NOW_MS + againInMs,
    isNews: false,
  }
}

/** The answer that follows from what was done on the node; nothing where that leaves it open. */
function answerOf(done: readonly Preparation[] = []): { readonly answer?: NodeCheck['kind'] } {
  if (done.some(({ state }) => state === 'failed')) return { answer: 'blocked' }
  return done.some(({ state }) => state === 'begun') ? { answer: 'pending' } : {}
}

function toCheck(answer: NodeCheck['kind'], purpose: NodeReading['purpose'], againInMs: number): NodeCheck {
  if (answer === 'ready') return { kind: 'ready', for: purpose }
  return answer === 'pending' ? { kind: 'pending', againInMs } : { kind: 'blocked', reason: 'NoRoom', message: 'no room', againInMs }
}

function toPreparation(node: string, { changesInMs, ...rest }: Drawn<typeof preparation>): Preparation {
  return { node, check: 'pull', changesAtMs: changesInMs === null ? null : NOW_MS + changesInMs, ...rest }
}

/** The last read of the permit's node, or of the pod that runs there now, confirmed nothing. */
function openFor(againInMs: number, { pods }: RuledCluster, { node }: Permit): Confirmation {
  const pod = pods.find((seen) => nodeOfPod(seen.pod) === node)?.pod
  return { kind: 'open', podVersion: pod?.metadata.resourceVersion ?? null, againAtMs: NOW_MS + againInMs }
}

type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never
