import {
  BY_STAMPS,
  FleetIndex,
  type FleetOwner,
  type FleetNode,
  type FleetPod,
  type FleetView,
  toFleetNode,
  toFleetPod,
} from '@tranche/fleet'
import type { PodPlacement } from '@tranche/kube-types'
import { aNode, aPod } from '@tranche/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const owners = ['first', 'second']
const placements: readonly PodPlacement[] = [{}, { nodeSelector: { pool: 'a' } }, { tolerations: [{ operator: 'Exists' }] }]

const nodeName = fc.nat(5).map((at) => `node-${at}`)
const event = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('node' as const),
      name: nodeName,
      pool: fc.constantFrom('a', 'b'),
      taint: fc.constantFrom(undefined, 'dedicated', 'node.kubernetes.io/unreachable'),
      ready: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('nodeGone' as const), name: nodeName }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('pod' as const),
      uid: fc.nat(7),
      node: nodeName,
      owner: fc.constantFrom(...owners),
      age: fc.nat(2),
      ready: fc.boolean(),
      terminating: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('podGone' as const), uid: fc.nat(7) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('look' as const),
      owner: fc.constantFrom(...owners),
      placement: fc.constantFrom(...placements),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), owner: fc.constantFrom(...owners) }) },
)
type FleetEvent = typeof event extends fc.Arbitrary<infer Event> ? Event : never

describe('FleetIndex, after any sequence of events', () => {
  it('equals an index built from scratch', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 60 }), (events) => {
        const follower = new Follower()
        for (const each of events) follower.take(each)
        for (const owner of owners) for (const placement of placements) follower.compare(owner, placement)
      }),
      { numRuns: 400 },
    )
  })

  it('shows no forged object of another namespace (F15)', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ event, forged: fc.boolean() }), { minLength: 1, maxLength: 60 }), (events) => {
        const [honest, attacked] = [new Follower(), new Follower()]
        for (const { event: each, forged } of events) {
          if (forged && each.kind === 'pod') attacked.forge(each)
          else for (const follower of [honest, attacked]) follower.take(each)
        }
        for (const owner of owners) expect(attacked.index.view(ownerOf(owner, {}))).toEqual(honest.index.view(ownerOf(owner, {})))
      }),
    )
  })

  it('never changes a view that it returned', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 40 }), (events) => {
        const follower = new Follower()
        const given = events.map((each) => {
          follower.take(each)
          const view = follower.index.view(ownerOf('first', {}))
          return { view, text: JSON.stringify(view) }
        })
        for (const { view, text } of given) expect(JSON.stringify(view)).toBe(text)
      }),
    )
  })
})

function ownerOf(uid: string, placement: PodPlacement): FleetOwner {
  return { metadata: { namespace: 'demo', uid }, spec: { template: { spec: placement } } }
}

/** An index that receives every change, and the state from which another index can be built. */
class Follower {
  readonly index = new FleetIndex()
  readonly #nodes = new Map<string, FleetNode>()
  readonly #pods = new Map<string, FleetPod>()
  #version = 10
  #forged = 0

  take(each: FleetEvent): void {
    if (each.kind === 'node')
      this.#setNode(
        each.name,
        toFleetNode(aNode(each.name, { ...each, labels: { pool: each.pool }, taints: taintsOf(each) }), undefined, BY_STAMPS),
      )
    else if (each.kind === 'nodeGone') this.#setNode(each.name, undefined)
    else if (each.kind === 'podGone') this.#setPod(`pod-${each.uid}`, undefined)
    else if (each.kind === 'pod') this.#setPod(`pod-${each.uid}`, this.#podOf(each))
    else if (each.kind === 'forget') this.index.forget(ownerOf(each.owner, {}))
    else this.compare(each.owner, each.placement)
  }

  /** A pod of the same fields in the namespace of a tenant. */
  forge(each: FleetEvent & { kind: 'pod' }): void {
    const pod = toFleetPod(aPod({ node: each.node, ownerUid: each.owner, ready: each.ready }), undefined, BY_STAMPS)!
    this.index.podChanged(undefined, { ...pod, namespace: 'tenant', uid: `forged-${this.#forged++}` })
  }

  compare(owner: string, placement: PodPlacement): void {
    const view = this.index.view(ownerOf(owner, placement))
    const { nodes, desired } = this.#fromScratch(owner, placement)
    expect(view).toMatchObject({ nodes, desired })
    expect(view.nodes).toHaveLength(nodes.length)
    expect(this.index.view(ownerOf(owner, placement))).toBe(view)
  }

  #fromScratch(owner: string, placement: PodPlacement): FleetView {
    const index = new FleetIndex()
    for (const pod of [...this.#pods.values()].reverse()) index.podChanged(undefined, pod)
    for (const node of this.#nodes.values()) index.nodeChanged(undefined, node)
    return index.view(ownerOf(owner, placement))
  }

  #setNode(name: string, node: FleetNode | undefined): void {
    this.index.nodeChanged(this.#nodes.get(name), node)
    if (node === undefined) this.#nodes.delete(name)
    else this.#nodes.set(name, node)
  }

  #setPod(uid: string, pod: FleetPod | undefined): void {
    this.index.podChanged(this.#pods.get(uid), pod)
    if (pod === undefined) this.#pods.delete(uid)
    else this.#pods.set(uid, pod)
  }

  #podOf({ uid, node, owner, age, ready, terminating }: FleetEvent & { kind: 'pod' }): FleetPod {
    const resourceVersion = String(this.#version++)
    const createdAt = `2026-01-01T00:00:0${age}Z`
    const pod = aPod({ node, name: `pod-${uid}`, uid: `pod-${uid}`, ownerUid: owner, resourceVersion, createdAt, ready, terminating })
    return toFleetPod(pod, this.#pods.get(`pod-${uid}`), { nowMs: 0, monotonicMs: this.#version }) ?? raise('the pod is bound and owned')
  }
}

function taintsOf({ taint }: { readonly taint: string | undefined }): readonly { key: string; effect: string }[] {
  return taint === undefined ? [] : [{ key: taint, effect: 'NoSchedule' }]
}

function raise(message: string): never {
  throw new Error(message)
}
