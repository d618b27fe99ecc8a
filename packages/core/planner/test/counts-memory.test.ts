import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BY_STAMPS, FleetIndex, type FleetNode, type FleetView, toFleetNode } from '@tranche/fleet'
import { batchProgress } from '@tranche/planner'
import { tallyNodes } from '@tranche/fence'
import { aNode, FLEET_OWNER } from '@tranche/testing'
import { expect, it } from 'vitest'

const NODES = 64

it('counts kept per block hold no unused view in memory', async () => {
  const index = new FleetIndex()
  for (let at = 0; at < NODES; at++) index.nodeChanged(undefined, nodeAt(at, true))
  const seen = Array.from({ length: NODES }, (_, at) => {
    index.nodeChanged(nodeAt(at, true), nodeAt(at, false))
    return new WeakRef(count(index.view(FLEET_OWNER)))
  })
  await nextTurn()
  collectGarbage()
  expect(seen.slice(0, -1).filter((view) => view.deref() !== undefined)).toEqual([])
})

function count(fleet: FleetView): FleetView {
  const question = { revision: 'new', minReadyMs: 0, monotonicMs: 1_000 }
  const plan = { batches: [{ canaryReplicas: '50%' }], enableExtraWorkloadForCanary: false }
  batchProgress({ ...question, fleet, plan, batch: 0 })
  tallyNodes(fleet, question)
  return fleet
}

function nodeAt(at: number, ready: boolean): FleetNode {
  return toFleetNode(aNode(`node-${at}`, { ready }), undefined, BY_STAMPS)
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}
