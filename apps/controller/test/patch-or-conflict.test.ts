import type { BatchRelease, Rollout } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import { afterEach, describe, expect, it } from 'vitest'
import { define } from '../../../test/scenarios/definitions.ts'
import { untilPausedAt, untilReleased } from '../../../test/scenarios/looks.ts'
import { setStage, type Stage } from '../../../test/scenarios/stage.ts'
import { stageKey } from '../../../test/scenarios/stage-objects.ts'
import { patchOrConflict } from '../src/patch-or-conflict.ts'

let stage: Stage
afterEach(() => stage.end())

const message = [{ op: 'add', path: '/status/message', value: 'written since' }] as const
const options = { subresource: 'status' } as const

describe('a patch of what was read before other definitions came', () => {
  it('takes nothing of the permit record and the failure from a BatchRelease (F11)', async () => {
    stage = await setStage({ nodes: 4, steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    stage.program('controller-1').kill()
    const release = (await stage.release())!
    await define(stage, 'theirs')
    const patch = patchOrConflict<BatchRelease>(stage.client, resourcePaths.batchReleases, release, message, options)
    await expect(patch).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    await define(stage, 'ours')
    expect((await stage.release())?.status).toEqual(release.status)
    const written = await patchOrConflict<BatchRelease>(stage.client, resourcePaths.batchReleases, release, message, options)
    expect(written.status).toMatchObject({ message: 'written since', flight: { epoch: release.status?.flight?.epoch } })
  })

  it('takes nothing of what the status remembers from a Rollout, whatever part of it is written (F11, G12)', async () => {
    stage = await setStage({ nodes: 2 })
    await untilReleased(stage, 'v1')
    stage.program('controller-1').kill()
    const rollout = await stage.rollout()
    expect(rollout.status?.stableDigest).toBeDefined()
    await define(stage, 'theirs')
    const label = [{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }] as const
    const patch = patchOrConflict<Rollout>(stage.client, resourcePaths.rollouts, rollout, label, {})
    await expect(patch).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    await define(stage, 'ours')
    expect((await stage.rollout()).status).toEqual(rollout.status)
  })

  it('goes through where the object that was read remembers nothing', async () => {
    stage = await setStage({ withRollout: false, controllers: [] })
    await define(stage, 'theirs')
    const spec = {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: stageKey.name },
      releasePlan: { batches: [], enableExtraWorkloadForCanary: false },
    }
    const body = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'BatchRelease', metadata: stageKey, spec }
    const release = await stage.client.create<BatchRelease>(resourcePaths.batchReleases, body as never)
    const label = [{ op: 'add', path: '/metadata/labels', value: { seen: 'yes' } }] as const
    const written = await patchOrConflict<BatchRelease>(stage.client, resourcePaths.batchReleases, release, label, {})
    expect(written.metadata).toMatchObject({ labels: { seen: 'yes' } })
  })
})
