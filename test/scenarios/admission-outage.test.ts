import { resourcePaths } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { afterEach, describe, expect, it } from 'vitest'
import { enforcePolicies, liftPolicies } from './admission.ts'
import { expectKept } from './expect-kept.ts'
import { nodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { daemonSetManifest } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: 1, pause: {} }, { replicas: '100%' }]
const other = { namespace: 'demo', name: 'other' }

describe('with every Tranche process down', () => {
  it.each(['policy', 'webhook'] as const)(
    'a DaemonSet without a Rollout is changed and rolled out as usual, with admission %s (X21)',
    async (admission) => {
      stage = await setStage({ nodes: 6, steps, admission })
      await stage.client.create(resourcePaths.daemonSets, otherDaemonSet('v1'))
      await stage.until('the other one runs', async () => (await otherStatus())?.numberAvailable === 6)
      killAll()
      await stage.client.patch(resourcePaths.daemonSets, other, { type: 'merge', body: { spec: otherDaemonSet('v2').spec } })
      await stage.until('the other one runs v2', async () => {
        const status = await otherStatus()
        return status?.observedGeneration === 2 && status.updatedNumberScheduled === 6 && status.numberAvailable === 6
      })
      const { metadata, spec } = await stage.client.get<DaemonSet>(resourcePaths.daemonSets, other)
      expect(spec.updateStrategy?.type).toBe('RollingUpdate')
      expect(Object.keys(metadata.annotations ?? {})).toEqual(['deprecated.daemonset.template.generation'])
    },
  )

  it('with the webhook, a DaemonSet with a Rollout keeps its version, and is released in steps when the processes are back (X21, G7)', async () => {
    stage = await setStage({ nodes: 6, steps, admission: 'webhook' })
    killAll()
    await expect(stage.setImage('v2')).rejects.toThrow(/failed calling webhook "daemonsets.admission.tranche.dev".*connection refused/)
    await stage.patchDaemonSet({ metadata: { labels: { team: 'a' } } })
    await stage.startController('controller-2')
    await stage.startExecutor('executor-2')
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe('RollingUpdate')
    expectKept(stage)
  })

  it('with policies, a DaemonSet with a Rollout is changed, waits on OnDelete, and is released in steps when the processes are back (X21, G7)', async () => {
    stage = await setStage({ nodes: 6, steps, admission: 'policy' })
    killAll()
    await stage.setImage('v2')
    await stage.pass(60_000)
    expect(await nodesOn(stage, 'v2')).toEqual([])
    expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe('OnDelete')
    await stage.startController('controller-2')
    await stage.startExecutor('executor-2')
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(1)
    await stage.approve()
    await untilReleased(stage, 'v2')
    expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe('RollingUpdate')
    expectKept(stage)
  })
})

it('if its admission policies are missing, the controller sets OnDelete itself; the native update has replaced at most one round by then', async () => {
  stage = await setStage({ nodes: 6, maxUnavailable: 2, steps, admission: 'policy' })
  await liftPolicies(stage.simulator)
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const updated = (await nodesOn(stage, 'v2')).length
  expect(updated).toBeGreaterThanOrEqual(1)
  expect(updated).toBeLessThanOrEqual(3)
  expect((await stage.daemonSet()).spec.updateStrategy?.type).toBe('OnDelete')
  await enforcePolicies(stage.simulator)
  await stage.approve()
  await untilReleased(stage, 'v2')
})

function killAll(): void {
  for (const identity of ['controller-1', 'executor-1']) stage.program(identity).kill()
}

function otherDaemonSet(tag: string): DaemonSet {
  const manifest = daemonSetManifest({ maxUnavailable: 2 }, tag) as DaemonSet
  const labels = { app: other.name }
  const { template } = manifest.spec
  const spec = {
    ...manifest.spec,
    selector: { matchLabels: labels },
    template: { ...template, metadata: { ...template.metadata, labels } },
  }
  return { ...manifest, metadata: other as DaemonSet['metadata'], spec }
}

async function otherStatus(): Promise<DaemonSet['status']> {
  return (await stage.client.get<DaemonSet>(resourcePaths.daemonSets, other)).status
}
