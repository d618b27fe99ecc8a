import { resourcePaths } from '@tranche/kube-client'
import { BATCH_RELEASE_FINALIZER, keyOf } from '@tranche/kube-types'
import type { Exchange } from '@tranche/wire'
import { afterEach, describe, expect, it } from 'vitest'
import { deletions, expectKept } from './expect-kept.ts'
import { events } from './hands.ts'
import { untilReleased } from './looks.ts'
import { setStage, type Stage } from './stage.ts'

let stage: Stage
/** Text of objects that controllers receive while they cannot be read, and what stands for it. */
let spoilt: readonly [text: string, instead: string] | null = null
afterEach(async () => {
  spoilt = null
  await stage.end()
})

/** Each stands for any bug: a number in place of a list, which the planning of the object does not expect. */
const heldRevisions = ['"stableRevision":"', '"heldRevisions":7,"stableRevision":"'] as const
const finalizers = [`"finalizers":["${BATCH_RELEASE_FINALIZER}"]`, '"finalizers":7'] as const

const tap = (identity: string, exchange: Exchange): Exchange => {
  if (!identity.startsWith('controller')) return exchange
  return async (request, signal) => {
    const answer = await exchange(request, signal)
    return { ...answer, body: spoil(answer.body) }
  }
}

async function* spoil(body: AsyncIterable<string>): AsyncIterable<string> {
  for await (const chunk of body) yield spoilt === null ? chunk : chunk.replaceAll(...spoilt)
}

/** Changes the Rollout and its BatchRelease without effect, so that the watches show them again. */
async function showAgain(value: string): Promise<void> {
  const metadata = { annotations: { 'example.com/shown': value } }
  await stage.patchRollout({ metadata })
  const release = await stage.release()
  if (release !== undefined) await stage.client.patch(resourcePaths.batchReleases, keyOf(release), { type: 'merge', body: { metadata } })
}

const record = async () => (await stage.release())?.status?.flight

describe('a release whose passes fail again and again (G9)', () => {
  it.each([
    ['Rollout', heldRevisions],
    ['BatchRelease', finalizers],
  ])('deletes nothing more until a pass over its %s succeeds, then continues', async (kind, text) => {
    stage = await setStage({ nodes: 20, maxUnavailable: 1, steps: [{ replicas: '100%' }], tap })
    await stage.setImage('v2')
    await stage.until('the release runs', () => deletions(stage) > 2)
    spoilt = text
    await showAgain('spoilt')
    await stage.until('the record is closed', async () => (await record())?.state !== 'open', 60_000)
    await stage.pass(5_000)
    const before = deletions(stage)
    expect(before).toBeLessThan(15)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.pass(300_000)
    expect(deletions(stage)).toBe(before)
    expect((await record())?.holds.map(({ reason }) => reason)).toEqual(['PassFailed'])
    expect((await record())?.state).toBe(kind === 'Rollout' ? 'stopped' : 'voiding')
    expect((await events(stage)).map(({ reason }) => reason)).toContain('PassFailed')
    spoilt = null
    await showAgain('whole')
    await stage.until('the pause is acknowledged', async () => {
      const { conditions = [] } = (await stage.rollout()).status ?? {}
      return conditions.some(({ reason }) => reason === 'Paused')
    })
    expect(deletions(stage)).toBe(before)
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })
})
