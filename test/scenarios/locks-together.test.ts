import type { Lease } from '@tranche/kube-types'
import { afterEach, expect, it } from 'vitest'
import { addAgent } from './group-stage.ts'
import { expectLocked, expectNoLocks, LEASES, locking, setLockStage } from './lock-stage.ts'
import { untilReleased } from './looks.ts'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

/** Name of another DaemonSet on the same nodes, with the same policy. */
const SECOND = 'csi-driver'
const steps = [{ replicas: '100%' }]

it.each([1, 2, 3])('two releases with several executors take no node down at the same time, and both end, seed %i', async (seed) => {
  stage = await setLockStage({ seed, nodes: 6, maxUnavailable: 3, executors: ['executor-1', 'executor-2'] })
  const second = await addAgent(stage, SECOND, { nodes: 6, maxUnavailable: 3, steps, policy: locking })
  await Promise.all([stage.setImage('v2'), second.setImage('v2')])
  await second.untilReleased('v2')
  await untilReleased(stage, 'v2')
  await expectNoLocks(stage)
  expectLocked(stage)
  expect(holders()).toEqual([SECOND, stageKey.name])
  expectApart()
})

it('an executor that was frozen before it takes a Lease gives it back once another one has updated the node (G7, G8)', async () => {
  stage = await setLockStage({ executors: ['executor-1', 'executor-2'] })
  stage.program('executor-1').process.freezeBefore(({ method, path }) => method === 'POST' && path.includes('/leases'))
  await stage.setImage('v2')
  await untilReleased(stage, 'v2')
  stage.program('executor-1').process.thaw()
  await stage.pass(5_000)
  await expectNoLocks(stage)
})

/** Names of the releases that held Leases. No holder may replace another one. */
function holders(): readonly string[] {
  const held = new Map<string, string>()
  const names = new Set<string>()
  for (const { kind, type, o, namespace } of stage.recording()) {
    if (kind !== 'Lease' || namespace !== LEASES) continue
    const { metadata, spec } = o as unknown as Lease
    const name = spec?.holderIdentity?.split('/')[2] ?? ''
    expect(held.get(metadata.name) ?? name, metadata.name).toBe(name)
    if (type === 'DELETED') held.delete(metadata.name)
    else held.set(metadata.name, name)
    names.add(name)
  }
  return [...names].toSorted()
}

/** Expects that no node is without an available pod of both DaemonSets at a time, after deletions of Tranche. */
function expectApart(): void {
  const down = new Map<string, Set<string>>()
  for (const { kind, o, node = '', verb, actor = '' } of stage.recording()) {
    const { owner, ready, deleting } = o as { readonly owner?: string; readonly ready?: boolean; readonly deleting?: boolean }
    if (kind !== 'Pod' || owner === undefined) continue
    const here = down.get(node) ?? new Set()
    down.set(node, here)
    if (verb === 'delete' && actor.startsWith('executor')) {
      expect(
        [...here].filter((other) => other !== owner),
        node,
      ).toEqual([])
      here.add(owner)
    } else if (ready === true && deleting !== true) here.delete(owner)
  }
}
