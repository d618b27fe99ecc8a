import type { Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { DaemonSet, Lease, Pod } from '@tranche/kube-types'
import { afterEach, expect, it } from 'vitest'
import { expectLocked, expectNoLocks, LEASES, locking, setLockStage } from './lock-stage.ts'
import { runs, untilReleased } from './looks.ts'
import { drive, type Stage } from './stage.ts'
import { daemonSetManifest, goesBy, imageOf, policyKey, rolloutManifest, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const second = { namespace: stageKey.namespace, name: 'csi-driver' }
const steps = [{ replicas: '100%' }]

it.each([1, 2, 3])('two releases with several executors take no node down at the same time, and both end, seed %i', async (seed) => {
  stage = await setLockStage({ seed, nodes: 6, maxUnavailable: 3, executors: ['executor-1', 'executor-2'] })
  await addSecond()
  await Promise.all([stage.setImage('v2'), setSecondImage('v2')])
  await stage.until('the second one is released', async () => isSecondReleased('v2'))
  await untilReleased(stage, 'v2')
  await expectNoLocks(stage)
  expectLocked(stage)
  expect(holders()).toEqual([second.name, stageKey.name])
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

/** Another DaemonSet on the same nodes, with a Rollout and the same policy. */
async function addSecond(): Promise<void> {
  const labels = { app: second.name }
  const { spec, ...agent } = daemonSetManifest({ maxUnavailable: 3 }) as DaemonSet
  const template = { ...spec.template, metadata: { ...spec.template.metadata, labels } }
  const daemonSet = { ...agent, metadata: second, spec: { ...spec, selector: { matchLabels: labels }, template } }
  await drive(stage.clock, stage.client.create(resourcePaths.daemonSets, daemonSet))
  const rollout = rolloutManifest({ steps, policy: locking }, second.name) as Rollout
  const workloadRef = { ...rollout.spec.workloadRef, name: second.name }
  const metadata = { ...second, annotations: goesBy(policyKey.name) }
  await drive(stage.clock, stage.client.create(resourcePaths.rollouts, { ...rollout, metadata, spec: { ...rollout.spec, workloadRef } }))
  await stage.until('it is Healthy', async () => (await stage.rollout(second.name)).status?.phase === 'Healthy')
}

async function setSecondImage(tag: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: imageOf(tag) }] } } } }
  await stage.client.patch(resourcePaths.daemonSets, second, { type: 'strategic', body })
}

async function isSecondReleased(tag: string): Promise<boolean> {
  const { items } = await stage.client.list<Pod>(resourcePaths.pods, { namespace: second.namespace, labelSelector: `app=${second.name}` })
  return items.length === 6 && items.every((pod) => runs(pod, tag)) && (await stage.rollout(second.name)).status?.phase === 'Healthy'
}

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
