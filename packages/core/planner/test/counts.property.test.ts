import { BY_STAMPS, FleetIndex, type FleetPod, type FleetView, toFleetNode, toFleetPod, toFleetView } from '@tranche/fleet'
import { batchProgress } from '@tranche/planner'
import { tallyNodes, oldNodes } from '@tranche/fence'
import { aNode, aPod, FLEET_OWNER } from '@tranche/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const NODES = 150
const podChange = fc.record({
  kind: fc.constant('pod' as const),
  at: fc.nat(NODES - 1),
  second: fc.boolean(),
  gone: fc.boolean(),
  hash: fc.constantFrom('new', 'old', 'older', null),
  ready: fc.boolean(),
  terminating: fc.boolean(),
})
const nodeChange = fc.record({ kind: fc.constant('node' as const), at: fc.nat(NODES - 1), ready: fc.boolean(), tainted: fc.boolean() })
const look = fc.record({
  kind: fc.constant('look' as const),
  revision: fc.constantFrom('new', 'old'),
  minReadyMs: fc.constantFrom(0, 0, 300, 1_000),
  passedMs: fc.constantFrom(0, 1, 299, 300, 700, -50),
})
const steps = fc.array(
  fc.oneof({ weight: 6, arbitrary: podChange }, { weight: 1, arbitrary: nodeChange }, { weight: 4, arbitrary: look }),
  {
    maxLength: 120,
  },
)

describe('counts kept per block, after any sequence of changes and any time', () => {
  it('equal a full recount', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const cluster = new Cluster()
        for (const step of all) {
          if (step.kind === 'pod') cluster.changePod(step)
          else if (step.kind === 'node') cluster.changeNode(step)
          else cluster.compare(step)
        }
      }),
      { numRuns: 150 },
    )
  })
})

class Cluster {
  readonly #index = new FleetIndex()
  readonly #pods = new Map<string, FleetPod>()
  #version = 10
  #nowMs = 100_000

  constructor() {
    for (let at = 0; at < NODES; at++) this.#index.nodeChanged(undefined, toFleetNode(aNode(`node-${at}`), undefined, BY_STAMPS))
  }

  changeNode({ at, ready, tainted }: { readonly at: number; readonly ready: boolean; readonly tainted: boolean }): void {
    const taints = tainted ? [{ key: 'dedicated', effect: 'NoSchedule' }] : []
    this.#index.nodeChanged(this.#index.node(`node-${at}`), toFleetNode(aNode(`node-${at}`, { ready, taints }), undefined, BY_STAMPS))
  }

  changePod(change: typeof podChange extends fc.Arbitrary<infer Change> ? Change : never): void {
    const { at, second, gone, hash, ready, terminating } = change
    const name = `pod-${at}${second ? '-second' : ''}`
    const before = this.#pods.get(name)
    const pod = aPod({ node: `node-${at}`, name, hash, ready, terminating, resourceVersion: String(this.#version++) })
    const after = gone ? undefined : (toFleetPod(pod, before, { nowMs: this.#nowMs, monotonicMs: this.#nowMs }) ?? undefined)
    this.#index.podChanged(before, after)
    if (after === undefined) this.#pods.delete(name)
    else this.#pods.set(name, after)
  }

  compare({ revision, minReadyMs, passedMs }: typeof look extends fc.Arbitrary<infer Look> ? Look : never): void {
    this.#nowMs += passedMs
    const view = this.#index.view(FLEET_OWNER)
    const question = { revision, minReadyMs, monotonicMs: this.#nowMs }
    const plan = { batches: [{ canaryReplicas: '50%' }], enableExtraWorkloadForCanary: false }
    const counts = (fleet: FleetView): object => ({
      tally: tallyNodes(fleet, question),
      progress: batchProgress({ ...question, fleet, plan, batch: 0 }),
      old: oldNodes(fleet, revision),
    })
    expect(counts(view)).toEqual(counts(toFleetView([...view.nodes])))
  }
}
