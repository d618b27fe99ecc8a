import type { FlightRecord, Permit } from '@tranche/api-schema'
import { type PublishedTarget, type PassPlan, planPass } from '@tranche/fence'
import { nodeOfPod } from '@tranche/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  appendedBy,
  executedBy,
  type GeneratedPass,
  generatedPasses,
  hashOf,
  isFlying,
  isReady,
  isSettled,
  exemptIn,
  lackOf,
  permittedNodes,
  podOf,
  type RuledCluster,
  stands,
  toView,
  truthOf,
} from './generated-pass.ts'
import { answered, type Standing } from './answered-pass.ts'
import { planText } from './pass-notation.ts'

const numRuns = 2_000

describe('planPass, for every view', () => {
  it('executes no Ready pod while the nodes down beside its own use up the limit (G1, F4)', () => {
    forEveryPlan(({ cluster }, plan) => {
      for (const permit of executedBy(plan)) {
        if (!isReady(podOf(cluster, permit)!)) continue
        const down = downBeside(cluster, permit.node, cluster.record.permits.indexOf(permit))
        expect(down.length, down.join(' ')).toBeLessThan(cluster.record.limit)
      }
    })
  })

  it('executes nothing that would put more nodes than the limit in flight, except on the last node (G2, F4)', () => {
    forEveryPlan(({ cluster }, plan) => {
      const truth = truthOf(cluster)
      const { permits, limit } = cluster.record
      for (const permit of executedBy(plan)) {
        const unsettled = permits.slice(0, permits.indexOf(permit)).filter((other) => !isSettled(other, truth))
        const isFirst = unsettled.every((other) => isFlying(other, truth) || podOf(cluster, other) === undefined)
        const isLastAgain = isFirst && unsettled.findLast((other) => isFlying(other, truth))?.node === permit.node
        const others = new Set(unsettled.map(({ node }) => node).filter((node) => node !== permit.node))
        if (!isLastAgain) expect(others.size).toBeLessThan(limit)
      }
    })
  })

  it('takes and settles nothing with the minReadySeconds of a generation newer or older than the record’s (F10, F1, G1)', () => {
    fc.assert(
      fc.property(generatedPasses(), fc.constantFrom(0, 1, 60, 3_600), fc.constantFrom(-1, 1), ({ view }, minReadySeconds, by) => {
        const { generation, observedGeneration } = view.published
        const moved = { generation: generation + by, observedGeneration: observedGeneration + by, minReadySeconds }
        expect(planPass({ ...view, published: { ...view.published, ...moved } }).kind).toBe('wait')
      }),
      { numRuns },
    )
  })

  it('settles nothing in a closed record by an older DaemonSet, whatever it contains (F6, F8, G2)', () => {
    fc.assert(
      fc.property(
        generatedPasses(),
        fc.constantFrom(0, 1, 60, 3_600),
        fc.constantFrom('voiding' as const, 'stopped' as const),
        ({ cluster, view }, minReadySeconds, state) => {
          const published = { ...view.published, generation: cluster.record.generation - 1, minReadySeconds }
          expect(planPass({ ...view, record: { ...cluster.record, state }, published }).kind).toBe('wait')
        },
      ),
      { numRuns },
    )
  })

  it('removes no permit only because its view lacks the node (F6, G2)', () => {
    fc.assert(
      fc.property(generatedPasses(), fc.constantFrom('open' as const, 'stopped' as const), ({ cluster, view }, state) => {
        const plan = planPass({ ...view, record: { ...cluster.record, state }, confirmations: new Map() })
        const truth = truthOf(cluster)
        const removed = plan.kind === 'changePermits' ? plan.change.remove : []
        const isThere = ({ podUid }: Permit): boolean => cluster.pods.some(({ pod }) => pod.metadata.uid === podUid)
        expect(removed.filter((permit) => truth.get(permit.node)?.desired !== true && !isThere(permit))).toEqual([])
      }),
      { numRuns },
    )
  })

  it('settles nothing, and frees no budget, by the clock alone (F6, G2)', () => {
    fc.assert(
      fc.property(generatedPasses(), fc.constantFrom(1, 60), ({ cluster, view }, minReadySeconds) => {
        const published = { ...view.published, minReadySeconds }
        const plan = planPass({ ...view, published, confirmations: new Map() })
        const truth = truthOf({ ...cluster, minReadySeconds })
        const removed = plan.kind === 'changePermits' ? plan.change.remove : []
        expect(removed.filter((permit) => isSettled(permit, truth) && !hasAnotherBehind(cluster, permit))).toEqual([])
        const { permits, limit } = cluster.record
        for (const permit of executedBy(plan)) {
          const before = permits.slice(0, permits.indexOf(permit))
          const isFirst = !before.some((other) => isStanding(podOf(cluster, other)))
          const isLastAgain = isFirst && before.findLast((other) => isGone(cluster, other))?.node === permit.node
          const inFront = before.filter((other) => isSettled(other, truth))
          const others = new Set(inFront.map(({ node }) => node).filter((node) => node !== permit.node))
          if (!isLastAgain) expect(others.size).toBeLessThan(limit)
        }
      }),
      { numRuns },
    )
  })

  it('appends at most what the batch lacks and the record may hold (G3, F3)', () => {
    forEveryPlan(({ cluster }, plan) => {
      const { record } = cluster
      const appended = appendedBy(plan)
      if (appended.length === 0 || plan.kind !== 'changePermits') return
      expect(appended.length).toBeLessThanOrEqual(lackOf(cluster, truthOf(cluster)))
      const held = record.permits.length - plan.change.remove.length + appended.length
      const most = record.limit + Math.max(8, Math.ceil(record.limit / 8))
      // A lower limit may leave more; then one at a time, on a node that is in flight already.
      expect(held <= most || (appended.length === 1 && inFlight(cluster).has(appended[0]!.node))).toBe(true)
    })
  })

  it('permits and executes only standing old pods of desired nodes, unchanged, one per node (G4)', () => {
    forEveryPlan(({ cluster, view }, plan) => {
      const truth = truthOf(cluster)
      for (const permit of [...executedBy(plan), ...appendedBy(plan)]) {
        const pod = podOf(cluster, permit)
        expect(pod).toBeDefined()
        expect(stands(pod!)).toBe(true)
        expect(hashOf(pod!)).not.toBe(cluster.record.revision)
        expect(truth.get(permit.node)).toMatchObject({ desired: true, inReach: true })
        expect(view.sent.has(`${permit.podUid}@${permit.podResourceVersion}`)).toBe(false)
      }
      const appended = appendedBy(plan).map(({ node }) => node)
      const taken = permittedNodes(cluster.record.permits, truth)
      expect(new Set(appended).size).toBe(appended.length)
      expect(appended.filter((node) => taken.has(node))).toEqual([])
    })
  })

  it('removes only executed or dead permits: a standing permit leaves only by a touch (F5, F6, F7)', () => {
    forEveryPlan(({ cluster }, plan) => {
      const removed = plan.kind === 'changePermits' ? plan.change.remove : []
      for (const permit of removed) {
        const pod = cluster.pods.find((seen) => seen.pod.metadata.uid === permit.podUid)?.pod
        if (pod === undefined || isRepeated(cluster, permit)) continue
        expect(stands(pod)).toBe(true)
        expect(Number(pod.metadata.resourceVersion)).toBeGreaterThan(Number(permit.podResourceVersion))
      }
      for (const { permit } of plan.kind === 'withdraw' ? plan.pods : []) expect(podOf(cluster, permit)).toBeDefined()
    })
  })

  it('rests on at least the versions of the pods that it permits (F2)', () => {
    forEveryPlan((_pass, plan) => {
      if (plan.kind !== 'changePermits') return
      for (const { podResourceVersion } of plan.change.append) expect(plan.change.restsOn).toContain(podResourceVersion)
    })
  })

  it('makes the same choice whatever the order in which nodes and pods arrive (G5)', () => {
    fc.assert(
      fc.property(
        generatedPasses().chain((pass) =>
          fc.tuple(
            fc.constant(pass),
            fc.shuffledSubarray([...pass.cluster.nodes], { minLength: pass.cluster.nodes.length }),
            fc.shuffledSubarray([...pass.cluster.pods], { minLength: pass.cluster.pods.length }),
          ),
        ),
        ([{ cluster, view }, nodes, pods]) => {
          const shuffled = { ...toView({ ...cluster, nodes, pods }), sent: view.sent }
          expect(planPass(shuffled)).toEqual(planPass(view))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('chooses no pod while one of higher rank is left out (G5)', () => {
    forEveryPlan(({ cluster }, plan) => {
      const chosen = appendedBy(plan).map((permit) => podOf(cluster, permit)!)
      if (chosen.length === 0) return
      const truth = truthOf(cluster)
      const taken = new Set([...permittedNodes(cluster.record.permits, truth), ...appendedBy(plan).map(({ node }) => node)])
      const leftOut = cluster.pods
        .map(({ pod }) => pod)
        .filter((pod) => stands(pod) && hashOf(pod) !== 'new' && !taken.has(nodeOfPod(pod)))
        .filter((pod) => truth.get(nodeOfPod(pod))!.desired && truth.get(nodeOfPod(pod))!.inReach)
      const flying = inFlight(cluster)
      const isFull = flying.size >= cluster.record.limit
      // Where the nodes in flight use up the limit, those with a broken old pod come first; beyond it, one of them.
      if (isFull && chosen.every((pod) => flying.has(nodeOfPod(pod)) && !isReady(pod))) return
      const noBudget = downBeside(cluster, '', cluster.record.permits.length).length >= cluster.record.limit
      for (const pod of leftOut) {
        for (const other of chosen) expect(rankOf(cluster, other, noBudget) <= rankOf(cluster, pod, noBudget)).toBe(true)
      }
    })
  })

  it('gives the same plan for the same view, and does not modify it', () => {
    forEveryPlan(({ view }, plan) => {
      const before = JSON.stringify(view)
      expect(planPass(view)).toEqual(plan)
      expect(JSON.stringify(view)).toBe(before)
    })
  })

  const disagreements: readonly Partial<PublishedTarget>[] = [
    { uid: 'another' },
    { controlledBy: undefined },
    { canaryRevision: 'old' },
    { partition: 99 },
    { paused: true },
    { strategy: 'RollingUpdate' },
    { generation: 9 },
    { observedGeneration: 1 },
  ]
  it('does nothing while record and DaemonSet disagree (F1)', () => {
    fc.assert(
      fc.property(generatedPasses(), fc.constantFrom(...disagreements), ({ view }, wrong) => {
        expect(planText(planPass({ ...view, published: { ...view.published, ...wrong } }))).toBe('wait for agreement')
      }),
      { numRuns: 500 },
    )
  })

  it('only settles while the record is not open (F8)', () => {
    fc.assert(
      fc.property(generatedPasses(), fc.constantFrom<FlightRecord['state']>('voiding', 'stopped'), ({ cluster, view }, state) => {
        const plan = planPass({ ...view, record: { ...cluster.record, state } })
        expect(['wait', 'changePermits']).toContain(plan.kind)
        expect(appendedBy(plan)).toEqual([])
        const uids = cluster.pods.map(({ pod }) => pod.metadata.uid)
        if (plan.kind === 'changePermits') for (const { podUid } of plan.change.remove) expect(uids).not.toContain(podUid)
      }),
      { numRuns: 500 },
    )
  })

  it('comes to rest while nothing happens: it never undoes its own action (G6)', () => {
    fc.assert(
      fc.property(generatedPasses(), ({ cluster, view }) => {
        let now: Standing = { cluster, view }
        const done: string[] = []
        for (let pass = 0; pass < 60; pass++) {
          const plan = planPass(now.view)
          done.push(planText(plan))
          if (plan.kind === 'wait') return
          now = answered(now, plan)
        }
        expect.fail(`never rests: ${done.slice(-6).join('; ')}`)
      }),
      { numRuns },
    )
  })

  it('covers every state often enough: budget exhausted, terminating, podless and mis-scheduled in a fifth of the views', () => {
    const passes = fc.sample(generatedPasses(), { numRuns: 1_000, seed: 1 })
    const share = (met: (pass: GeneratedPass) => boolean): number => passes.filter(met).length / passes.length
    const some = ({ cluster }: GeneratedPass, met: (node: ReturnType<typeof nodesOf>[number]) => boolean): boolean =>
      nodesOf(cluster).some(met)
    expect(share(({ cluster }) => downBeside(cluster, '', cluster.record.permits.length).length >= cluster.record.limit)).toBeGreaterThan(
      0.2,
    )
    expect(share((pass) => some(pass, (node) => node.desired && node.pods.some(({ pod }) => !stands(pod))))).toBeGreaterThan(0.2)
    expect(share((pass) => some(pass, (node) => node.desired && node.pods.length === 0))).toBeGreaterThan(0.2)
    expect(share((pass) => some(pass, (node) => !node.desired && node.pods.length > 0))).toBeGreaterThan(0.2)

    const kinds = passes.map(({ view }) => planPass(view).kind)
    for (const kind of ['execute', 'changePermits', 'withdraw', 'wait'] as const) {
      expect(kinds.filter((other) => other === kind).length / kinds.length, kind).toBeGreaterThan(0.05)
    }
  })
})

/** Nodes of permits whose pod is gone and that have not settled. */
function inFlight({ record, ...rest }: RuledCluster): ReadonlySet<string> {
  const truth = truthOf({ record, ...rest })
  return new Set(record.permits.filter((permit) => isFlying(permit, truth)).map(({ node }) => node))
}

function isStanding(pod: ReturnType<typeof podOf>): boolean {
  return pod !== undefined && stands(pod)
}

/** No pod of this uid exists, in any version. */
function isGone({ pods }: RuledCluster, { podUid }: RuledCluster['record']['permits'][number]): boolean {
  return !pods.some(({ pod }) => pod.metadata.uid === podUid && stands(pod))
}

/** Another permit of its node follows it, and the pods of both are terminating or gone. */
function isRepeated(cluster: RuledCluster, permit: RuledCluster['record']['permits'][number]): boolean {
  const truth = truthOf(cluster)
  const { permits } = cluster.record
  const behind = permits.slice(permits.indexOf(permit) + 1).filter(({ node }) => node === permit.node)
  return isFlying(permit, truth) && behind.some((other) => isFlying(other, truth))
}

function hasAnotherBehind({ record: { permits } }: RuledCluster, permit: RuledCluster['record']['permits'][number]): boolean {
  return permits.slice(permits.indexOf(permit) + 1).some(({ node }) => node === permit.node)
}

function forEveryPlan(check: (pass: GeneratedPass, plan: PassPlan) => void): void {
  fc.assert(
    fc.property(generatedPasses(), (pass) => check(pass, planPass(pass.view))),
    { numRuns },
  )
}

/**
 * |D ∪ U| without `own`, counted independently: nodes of unsettled permits before `place`, those in flight, and desired ones
 * without an available pod.
 */
function downBeside(cluster: RuledCluster, own: string, place: number): readonly string[] {
  const truth = truthOf(cluster)
  const taken = cluster.record.permits.filter((permit, at) => (at < place && !isSettled(permit, truth)) || isFlying(permit, truth))
  const desired = [...truth].filter(([, node]) => node.desired)
  const exempt = exemptIn(desired, cluster.notReady)
  const unavailable = desired.filter(([name, node]) => !node.available && !exempt.has(name)).map(([name]) => name)
  return [...new Set([...taken.map(({ node }) => node), ...unavailable])].filter((node) => node !== own)
}

function nodesOf(cluster: RuledCluster) {
  return [...truthOf(cluster).values()]
}

/** Sort key for the order of G5; without budget left, nodes without a Ready pod come first (F7). */
function rankOf(cluster: RuledCluster, pod: RuledCluster['pods'][number]['pod'], noBudget: boolean): string {
  const here = cluster.pods.filter((seen) => nodeOfPod(seen.pod) === nodeOfPod(pod))
  const costless = noBudget && !here.some((seen) => stands(seen.pod) && isReady(seen.pod))
  const superseded = !['old', ...(cluster.former ?? [])].includes(hashOf(pod) ?? '')
  const crashing = pod.status?.containerStatuses !== undefined
  const isNodeReady = truthOf(cluster).get(nodeOfPod(pod))!.isReady
  const health =
    pod.status?.phase === 'Failed' ? 0 : isReady(pod) ? (isNodeReady ? 4 : 3) : crashing ? 1 : pod.status?.phase === 'Pending' ? 2 : 3
  return [costless ? 0 : 1, superseded ? 0 : 1, health, pod.metadata.creationTimestamp, pod.metadata.name].join(' ')
}
