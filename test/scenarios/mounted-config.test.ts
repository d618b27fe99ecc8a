import { afterEach, describe, expect, it } from 'vitest'
import { expectKept } from './expect-kept.ts'
import { untilPausedAt } from './looks.ts'
import { type SeenChange, seenChanges } from './mounted-config.ts'
import { setPinnedStage, untilContents, write } from './pinned-stage.ts'
import type { Stage } from './stage.ts'

let stage: Stage
afterEach(() => stage.end())

const abort = { metadata: { annotations: { 'tranche.dev/action': JSON.stringify({ id: 'a', type: 'abort' }) } } }

describe('a ConfigMap that changes while its release is paused, and is rolled back', () => {
  it('reaches no node outside a batch where it is pinned', async () => {
    stage = await setPinnedStage({ config: '1' })
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilContents(stage, ['1', '1', '1', '1', '1'])
    const fromMs = stage.clock.nowMs()
    await write(stage, '2')
    await untilPausedAt(stage, 1)
    await stage.pass(300_000)
    expect(changesSince(fromMs)).toEqual([['2', 'batch']])
    await stage.approve()
    await untilContents(stage, ['2', '2', '2', '2', '2'])
    expect(changesSince(fromMs)).toEqual(Array<unknown>(5).fill(['2', 'batch']))

    const badMs = stage.clock.nowMs()
    await write(stage, 'bad')
    await untilPausedAt(stage, 1)
    await stage.pass(300_000)
    await stage.patchRollout(abort)
    await untilContents(stage, ['2', '2', '2', '2', '2'])
    await stage.pass(300_000)
    expect(changesSince(badMs)).toEqual([
      ['bad', 'batch'],
      ['2', 'batch'],
    ])
    expectKept(stage)
  })

  it('reaches every node at once where it is not', async () => {
    stage = await setPinnedStage({ config: '1', policy: {} })
    await stage.until('it is Healthy', async () => (await stage.rollout()).status?.phase === 'Healthy')
    const fromMs = stage.clock.nowMs()
    await write(stage, '2')
    await stage.pass(60_000)
    expect(changesSince(fromMs)).toEqual(Array<unknown>(5).fill(['2', 'mount']))
  })
})

function changesSince(fromMs: number): readonly (readonly [content: string, by: SeenChange['by']])[] {
  return seenChanges(stage.recording(), fromMs).map(({ content, by }) => [(JSON.parse(content) as { readonly level: string }).level, by])
}
