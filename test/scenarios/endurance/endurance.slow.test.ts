import { resourcePaths } from '@tranche/kube-client'
import { describe, expect, it } from 'vitest'
import { drive, type Stage } from '../stage.ts'
import { stageKey } from '../stage-objects.ts'
import { type EnduranceOptions, playEndurance } from './endurance.ts'
import { findLeaks } from './find-leaks.ts'

/** Releases until the histories of ten revisions and ten releases are full. */
const WARM_UP = 12
const hourly = { nodes: 4, everyMs: 3_600_000, sampleEvery: 1 }
/** Every release is like the one before, so that few show a leak. */
const alike: EnduranceOptions = { ...hourly, releases: 3, isBad: () => false }

describe('releases one after the other, with faults', () => {
  it('leave no timer, stream, handle, lease, event or object behind, and grow no status', async () => {
    const samples = await playEndurance({
      ...hourly,
      releases: 20,
      isBad: (release) => release <= WARM_UP && release % 2 === 0,
      restartsAfter: (release) => release === 6,
    })
    expect(findLeaks(samples, WARM_UP)).toEqual([])
  })

  it.each([
    ['a timer per release', { afterRelease: setForgottenTimer }, /^pending timers grew from \d+ to \d+ in 2 releases$/],
    ['a Lease per release', { afterRelease: createLease }, /^leases.coordination.k8s.io grew from 1 to 3 in 2 releases$/],
    ['an object per release', { afterRelease: createConfigMap }, /^configmaps grew from 1 to 3 in 2 releases$/],
    ['a status that grows', { afterRelease: growStatus }, /^bytes of the Rollout grew from \d+ to \d+ in 2 releases$/],
  ] as const)('that leave %s are found', async (_what, planted, expected) => {
    const found = findLeaks(await playEndurance({ ...alike, ...planted }), 1)
    expect(found).toContainEqual(expect.stringMatching(expected))
  })
})

function setForgottenTimer({ clock }: Stage): void {
  clock.setTimer(365 * 86_400_000, () => {})
}

function createLease(stage: Stage, release: number): Promise<void> {
  return create(stage, resourcePaths.leases, { metadata: { name: `left-${release}`, namespace: stageKey.namespace }, spec: {} })
}

function createConfigMap(stage: Stage, release: number): Promise<void> {
  return create(stage, resourcePaths.configMaps, { metadata: { name: `left-${release}`, namespace: stageKey.namespace } })
}

async function create(stage: Stage, resource: Parameters<Stage['client']['create']>[0], object: object): Promise<void> {
  await drive(stage.clock, stage.client.create(resource, object as never))
}

async function growStatus(stage: Stage, release: number): Promise<void> {
  const annotations = { 'example.com/left': 'x'.repeat(1_000 * release) }
  await drive(stage.clock, stage.patchRollout({ metadata: { annotations } }))
}
