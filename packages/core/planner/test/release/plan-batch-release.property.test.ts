import type { FlightRecord } from '@tranche/api-schema'
import { daemonSetAnnotations } from '@tranche/kube-types'
import {
  type BatchReleasePlan,
  controlledBy,
  planBatchRelease,
  resolveLimit,
  type ReleaseView,
  strategyOf,
  wantedAllowance,
} from '@tranche/planner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { waitingFor } from '../../src/release/waiting-for.ts'
import { type GeneratedRelease, generatedReleases, patchedDaemonSet } from './generated-release.ts'

const numRuns = 2_000

describe('planBatchRelease, for every view', () => {
  it('does nothing before it has stopped an open record, where a stop is requested (F8, G9)', () => {
    forEveryPlan(({ view, stopAsked }, plan) => {
      const record = recordOf(view)
      if (!stopAsked || record === undefined) return
      expect(opens(plan)).toBe(false)
      if (record.state !== 'open' || !isFinalizerThere(view)) return
      if (plan.kind === 'patchDaemonSet') {
        expect(patchedDaemonSet(view.daemonSet!, plan.patch).metadata.annotations?.[daemonSetAnnotations.paused]).toBe('true')
        expect(plan.why).toBe('pause')
        return
      }
      expect(plan.kind).toBe('writeRecord')
      expect(plan.kind === 'writeRecord' && plan.record).toMatchObject({
        state: 'voiding',
        epoch: record.epoch + 1,
        seq: record.seq + 1,
        permits: record.permits,
      })
      expect(plan.kind === 'writeRecord' && plan.record.holds.length).toBeGreaterThan(0)
    })
  })

  it('touches every pod of a record during its revocation, even if the desired state has changed (F8)', () => {
    forEveryPlan(({ view }, plan) => {
      const record = recordOf(view)
      if (record?.state !== 'voiding' || !isFinalizerThere(view) || plan.kind === 'writeStatus') return
      expect(plan).toEqual({ kind: 'touchPermits', permits: record.permits, lowerTo: null })
    })
  })

  it('acknowledges a stop only when the record is stopped and says why (G9, F8)', () => {
    forEveryPlan(({ view, stopAsked }, plan) => {
      const record = recordOf(view)
      const generation = view.release.metadata.generation!
      if (!stopAsked || plan.kind !== 'writeStatus' || record === undefined) return
      if (plan.status.observedGeneration !== generation || view.release.status?.observedGeneration === generation) return
      expect(record.state).toBe('stopped')
      expect(record.holds.length).toBeGreaterThan(0)
    })
  })

  it('opens and widens only what the DaemonSet publishes already, and only if live reads confirm it (F9, F1)', () => {
    forEveryPlan(({ view }, plan) => {
      const before = recordOf(view)
      const write = writeOf(plan)
      if (write === null || write.record.state !== 'open' || isNoWider(before, write.record)) return
      expect(write.confirm).toBe(true)
      expect(wantedAllowance(view).kind).toBe('allow')
      const { metadata, status } = view.daemonSet!
      const said = metadata.annotations ?? {}
      expect(controlledBy(view.daemonSet!)?.uid).toBe('release')
      expect(said[daemonSetAnnotations.canaryRevision]).toBe(write.record.revision)
      expect(said[daemonSetAnnotations.partition]).toBe(String(write.record.partition))
      expect([metadata.uid, metadata.generation, status?.observedGeneration]).toEqual([
        write.record.workloadUid,
        write.record.generation,
        write.record.generation,
      ])
      expect(strategyOf(view.daemonSet!)).toBe('OnDelete')
      expect(said[daemonSetAnnotations.originalUpdateStrategy]).toBeDefined()
    })
  })

  it('lowers only the limit, after withdrawing every unexecuted permit (F10)', () => {
    forEveryPlan(({ view }, plan) => {
      const record = recordOf(view)
      if (plan.kind !== 'touchPermits' || plan.lowerTo === null || record === undefined) return
      const { limit, ...scope } = plan.lowerTo
      expect({ scope: undefined, outside: undefined, ...record }).toMatchObject(scope)
      expect(limit).toBeLessThan(record.limit)
      expect(plan.permits).toEqual(record.permits)
    })
  })

  it('never records a lower limit while permits exceed it (F10, G2)', () => {
    forEveryPlan(({ view }, plan) => {
      const before = recordOf(view)
      const write = writeOf(plan)
      if (write === null || before?.state !== 'open' || write.record.state !== 'open') return
      expect(write.record.limit).toBeGreaterThanOrEqual(before.limit)
    })
  })

  it('keeps unsettled permits in each of its writes (F11, G7)', () => {
    forEveryPlan(({ view }, plan) => {
      const write = writeOf(plan)
      if (write !== null) expect(write.record.permits).toEqual(recordOf(view)?.permits)
    })
  })

  it('detaches from the DaemonSet only when the record is stopped, and when it is deleted only with nothing unsettled (F11)', () => {
    forEveryPlan(({ view }, plan) => {
      const record = recordOf(view)
      const daemonSet = view.daemonSet
      if (plan.kind === 'setFinalizer' && !plan.present) {
        expect(['stopped', undefined]).toContain(record?.state)
        expect(daemonSet === undefined ? undefined : controlledBy(daemonSet)?.uid).not.toBe('release')
      }
      if (plan.kind !== 'patchDaemonSet' || daemonSet === undefined || controlledBy(daemonSet)?.uid !== 'release') return
      if (controlledBy(patchedDaemonSet(daemonSet, plan.patch))?.uid === 'release') return
      expect(['stopped', undefined]).toContain(record?.state)
      if (view.release.metadata.deletionTimestamp !== undefined) expect(record?.permits ?? []).toEqual([])
    })
  })

  it('touches every old pod before it takes over permits of a lost record (F11)', () => {
    forEveryPlan(({ view }, plan) => {
      const daemonSet = view.daemonSet
      if (daemonSet === undefined) return
      const takesControl =
        plan.kind === 'patchDaemonSet' &&
        view.otherControl === 'vanished' &&
        controlledBy(patchedDaemonSet(daemonSet, plan.patch))?.uid === 'release'
      const isAnother = recordOf(view)?.workloadUid !== daemonSet.metadata.uid
      const opensUntouched = plan.kind === 'writeRecord' && plan.record.state === 'open' && isAnother
      expect([takesControl, opensUntouched]).toEqual([false, false])
    })
  })

  it('labels only pods of the record’s revision without a permit (F13)', () => {
    forEveryPlan(({ view, cluster }, plan) => {
      if (plan.kind !== 'labelPods') return
      const permitted = recordOf(view)!.permits.map(({ podUid }) => podUid)
      for (const { uid } of plan.pods) {
        expect(permitted).not.toContain(uid)
        const pod = cluster.pods.find((seen) => seen.pod.metadata.uid === uid)!.pod
        expect(pod.metadata.labels?.['controller-revision-hash']).toBe(recordOf(view)!.revision)
        expect(pod.metadata.deletionTimestamp).toBeUndefined()
      }
    })
  })

  it('reports stuck pods and their nodes exactly where they take the whole budget (F12)', () => {
    forEveryPlan(({ view, cluster }) => {
      const wanted = wantedAllowance(view)
      if (wanted.kind !== 'allow' || view.unclear !== null) return
      const desired = new Set(view.fleet.nodes.filter((node) => node.desired).map(({ name }) => name))
      // Dead nodes cost no budget: the kubelets of these will end their pods when they are back.
      const exempt = wanted.progress.exemption.names
      const stuck = cluster.pods.filter(({ pod }) => (pod.metadata.finalizers ?? []).length > 0).map(({ pod }) => pod.spec?.nodeName ?? '')
      const nodes = [...new Set(stuck)].filter((name) => desired.has(name) && !exempt.has(name))
      const waiting = waitingFor(view, wanted)
      if (waiting?.reason === 'NodesLeft') return
      expect(waiting?.reason === 'PodsStuck').toBe(nodes.length >= resolveLimit(view.daemonSet!, desired.size))
      if (waiting?.reason === 'PodsStuck') expect(waiting.nodes.toSorted()).toEqual(nodes.toSorted())
    })
  })

  it('covers every kind of plan often enough', () => {
    const kinds = Map.groupBy(
      fc.sample(generatedReleases(), { numRuns: 6_000, seed: 1 }).map(({ view }) => planBatchRelease(view)),
      nameOf,
    )
    const wanted = [
      'setFinalizer',
      'publish',
      'takeOver',
      'pause',
      'createRecord',
      'restoreRecord',
      'open',
      'widen',
      'narrow',
      'stop',
      'holds',
      'touchPermits',
      'lowerLimit',
    ]
    const seldom = [...wanted, 'touchOldPods', 'labelPods', 'writeStatus', 'resume', 'release', 'restore'].filter(
      (kind) => (kinds.get(kind)?.length ?? 0) < 3,
    )
    expect(seldom).toEqual([])
  })
})

function forEveryPlan(check: (release: GeneratedRelease, plan: BatchReleasePlan) => void): void {
  fc.assert(
    fc.property(generatedReleases(), (release) => check(release, planBatchRelease(release.view))),
    { numRuns },
  )
}

function recordOf({ release }: ReleaseView): FlightRecord | undefined {
  return release.status?.flight
}

function isFinalizerThere({ release }: ReleaseView): boolean {
  return (release.metadata.finalizers ?? []).length > 0
}

/** The record write of a plan, at once or after touches. */
function writeOf(plan: BatchReleasePlan): (BatchReleasePlan & { kind: 'writeRecord' }) | null {
  if (plan.kind === 'touchOldPods') return writeOf(plan.next)
  return plan.kind === 'writeRecord' ? plan : null
}

function opens(plan: BatchReleasePlan): boolean {
  return plan.kind === 'createRecord' || writeOf(plan)?.record.state === 'open' || (plan.kind === 'touchPermits' && plan.lowerTo !== null)
}

function isNoWider(before: FlightRecord | undefined, after: FlightRecord): boolean {
  return (
    before?.state === 'open' && before.partition <= after.partition && before.limit >= after.limit && before.generation === after.generation
  )
}

function nameOf(plan: BatchReleasePlan): string {
  if (plan.kind === 'patchDaemonSet' || plan.kind === 'writeRecord') return plan.why
  return plan.kind === 'touchPermits' && plan.lowerTo !== null ? 'lowerLimit' : plan.kind
}
