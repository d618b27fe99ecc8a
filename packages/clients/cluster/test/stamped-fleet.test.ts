import type { FleetNode, FleetPod, FleetView, NodeView } from '@tranche/fleet'
import { expect, it } from 'vitest'
import { createSharedTexts } from '../src/cache/shared-texts.ts'
import { stampedFleet } from '../src/stamped-fleet.ts'

it('a stamped fleet counts a Ready pod as Ready since its timestamp, or always without one, and does not change an unready pod', () => {
  const pods = [
    podOf({ ready: true, readyStamp: '2024-01-01T00:00:00Z' }),
    podOf({ ready: true }),
    podOf({ ready: true, readyStamp: 'yesterday' }),
    podOf({ ready: true, readyStamp: '1969-01-01T00:00:00Z' }),
    podOf({ ready: false, readyStamp: '2024-01-01T00:00:00Z' }),
  ]
  const { fleet, view } = fleetOf(pods)
  const stamped = stampedFleet(fleet).view({} as never)
  expect(stamped.nodes[0]?.pods.map(({ readyFromMs }) => readyFromMs)).toEqual([Date.UTC(2024, 0, 1), 0, 0, 0, 77])
  expect([stamped.desired, stamped.nodes[0]?.name]).toEqual([view.desired, 'a'])
})

it('a stamped fleet finds the nodes, and copies unchanged pods once', () => {
  const { fleet, see } = fleetOf([podOf({ ready: true })])
  const stamped = stampedFleet(fleet)
  expect(stamped.node('a')).toBe(fleet.node('a'))
  const before = stamped.view({} as never)
  expect(stamped.view({} as never)).toBe(before)
  see()
  const after = stamped.view({} as never)
  expect(after).not.toBe(before)
  expect(after.blocks[0]).toBe(before.blocks[0])
})

it('shared texts store equal labels of many pods once, and do not change a pod', () => {
  const shared = createSharedTexts()
  const [one, two, three] = [
    podOf({ labels: { app: 'agent' } }),
    podOf({ labels: { app: 'agent' } }),
    podOf({ labels: {}, acknowledgedAt: '7' }),
  ]
  expect([one, two, three].map(shared)).toEqual([one, two, three])
  expect(shared(two).labels).toBe(shared(one).labels)
})

it('shared texts keep no long text or labels of a pod that is gone', () => {
  const shared = createSharedTexts()
  const long = (): FleetPod => podOf({ labels: { app: 'x'.repeat(5_000) }, acknowledgedAt: 'x'.repeat(300) })
  expect(shared(long())).toEqual(long())
  expect(shared(long()).labels).not.toBe(shared(long()).labels)
})

it('shared texts forget labels at a thousand, and share later ones', () => {
  const shared = createSharedTexts()
  const first = shared(podOf({ labels: { n: '0' } }))
  for (let n = 1; n < 1_000; n++) shared(podOf({ labels: { n: String(n) } }))
  expect(shared(podOf({ labels: { n: '0' } })).labels).toBe(first.labels)
  shared(podOf({ labels: { n: '1000' } }))
  const again = shared(podOf({ labels: { n: '0' } }))
  expect(again.labels).not.toBe(first.labels)
  expect(shared(podOf({ labels: { n: '0' } })).labels).toBe(again.labels)
})

function podOf(members: Partial<FleetPod>): FleetPod {
  return { uid: 'u', name: 'p', namespace: 'demo', node: 'a', hash: 'h', labels: {}, ready: false, readyFromMs: 77, ...members } as FleetPod
}

/** A fleet of one node. `see` makes another view of it in which nothing has changed. */
function fleetOf(pods: readonly FleetPod[]) {
  const node = { name: 'a', pods } as unknown as NodeView
  const blocks = [[node]]
  const makeView = (): FleetView => ({ nodes: [node], desired: 1, blocks })
  let view = makeView()
  const found = { name: 'a' } as FleetNode
  const fleet = { node: (_name: string) => found, view: () => view }
  return { fleet, view, see: () => void (view = makeView()) }
}
