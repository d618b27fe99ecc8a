import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { ROLLOUT_BATCH_ID_LABEL, ROLLOUT_ID_LABEL } from '@tranche/kube-types'
import type { Exchange, WireRequest } from '@tranche/wire'
import { expectKept } from './expect-kept.ts'
import { deletePod } from './hands.ts'
import { runs, untilPausedAt, untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { imageOf, stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: '10%', pause: {} }, { replicas: '40%', pause: {} }, { replicas: '100%' }]

describe('another rollout-id in mid-release', () => {
  it('renames the release: its pods get the new id, and keep their batch and leaked state', async () => {
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps })
    await setVersion('v2', 'may')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilPausedAt(stage, 2)
    await leak()
    await untilLabelled({ 'may 1': 1, 'may 2': 4 })
    await stage.patchDaemonSet({ metadata: { labels: { [ROLLOUT_ID_LABEL]: 'june' } } })
    await untilLabelled({ 'june 1': 1, 'june 2': 4 })
    await stage.until('it is reported', async () => (await stage.release())?.status?.observedRolloutID === 'june')
    await untilLeaked()
    await stage.approve()
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('that comes with the next version is never given to pods of the previous version', async () => {
    const patches: WireRequest[] = []
    const tap =
      (_identity: string, exchange: Exchange): Exchange =>
      (request, signal) => {
        patches.push(request)
        return exchange(request, signal)
      }
    stage = await setStage({ nodes: 10, maxUnavailable: 2, steps, tap })
    await setVersion('v2-bad-crash', 'may')
    await stage.until('it has failed', async () => (await stage.release())?.status?.failure?.stops === true)
    await untilLabelled({ 'may 1': 1 })
    await setVersion('v3', 'june')
    await untilPausedAt(stage, 1)
    await untilLabelled({ 'june 1': 1 })
    await stage.approve()
    await untilPausedAt(stage, 2)
    await stage.approve()
    await untilReleased(stage, 'v3')
    expect(idsSentTo(patches, 'v2-bad-crash')).toEqual(['may'])
    expect(idsSentTo(patches, 'v3')).toEqual(['june'])
    expectKept(stage)
  })
})

/** Changes image and rollout-id in one write, like a pipeline that applies a manifest. */
async function setVersion(tag: string, id: string): Promise<void> {
  const containers = [{ name: 'agent', image: imageOf(tag) }]
  const body = { metadata: { labels: { [ROLLOUT_ID_LABEL]: id } }, spec: { template: { spec: { containers } } } }
  await stage.client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body })
}

/** Deletes a pod of the old version as a user. The next pod on its node starts with the new version, without a deletion by Tranche. */
async function leak(): Promise<void> {
  const old = (await stage.pods()).find((pod) => runs(pod, 'v1'))
  if (old === undefined) throw new Error('no pod of v1 is left')
  await deletePod(stage, old)
  await untilLeaked()
}

async function untilLeaked(): Promise<void> {
  await stage.until('one node has leaked', async () => (await stage.release())?.status?.leaked?.count === 1)
}

/** @param counts number of pods by rollout-id and batch */
async function untilLabelled(counts: Readonly<Record<string, number>>): Promise<void> {
  await stage.until(`pods are labelled ${JSON.stringify(counts)}`, async () => {
    const found: Record<string, number> = {}
    for (const { metadata } of await stage.pods()) {
      const id = metadata.labels?.[ROLLOUT_ID_LABEL]
      if (id === undefined) continue
      const label = `${id} ${metadata.labels?.[ROLLOUT_BATCH_ID_LABEL]}`
      found[label] = (found[label] ?? 0) + 1
    }
    return JSON.stringify(Object.entries(found).toSorted()) === JSON.stringify(Object.entries(counts).toSorted())
  })
}

/** The rollout-ids, without repetitions, that were sent to pods with this tag. */
function idsSentTo(requests: readonly WireRequest[], tag: string): readonly string[] {
  const written = stage
    .recording()
    .filter(({ kind }) => kind === 'Pod')
    .map(({ o }) => o as unknown as { name: string; images: string[] })
  const ids = requests.flatMap(({ method, path, body }) => {
    const pod = /\/pods\/([^/?]+)/.exec(path)?.[1]
    const id = method === 'PATCH' && pod !== undefined ? labelIn(body) : undefined
    return id !== undefined && written.some(({ name, images }) => name === pod && images.includes(imageOf(tag))) ? [id] : []
  })
  return [...new Set(ids)]
}

function labelIn(body: string | undefined): string | undefined {
  const patch = JSON.parse(body ?? '{}') as { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } }
  return patch.metadata?.labels?.[ROLLOUT_ID_LABEL]
}
