import { afterEach, describe, expect, it } from 'vitest'
import { resourcePaths } from '@tranche/kube-client'
import { rolloutAnnotations } from '@tranche/kube-types'
import { expectKept } from './expect-kept.ts'
import { untilPausedAt } from './looks.ts'
import { contents, copies, setPinnedStage, stalled, untilContents, write } from './pinned-stage.ts'
import type { Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

let stage: Stage
afterEach(() => stage.end())

/** A release of config `1` that is stopped, because another client changed the update strategy twice. */
async function stopByStrategy(): Promise<void> {
  stage = await setPinnedStage()
  await write(stage, '1')
  await untilPausedAt(stage, 1)
  await setRolling()
  await stage.until('it is OnDelete again', async () => (await typeNow()) === 'OnDelete')
  await setRolling()
  await stage.until('the release is stopped', isStopped)
}

describe('a pinned DaemonSet whose update strategy another client changed twice', () => {
  it('stays stopped, and says so, when its config changes too; a retry releases that config (G6, G11)', async () => {
    await stopByStrategy()
    await write(stage, '2')
    await stage.pass(60_000)
    expect(await isStopped()).toBe(true)
    expect(await typeNow()).toBe('RollingUpdate')
    const action = JSON.stringify({ id: 'retry-1', type: 'retry', by: 'alice' })
    await stage.patchRollout({ metadata: { annotations: { [rolloutAnnotations.action]: action } } })
    await stage.until('it is OnDelete again', async () => (await typeNow()) === 'OnDelete')
    await untilPausedAt(stage, 1)
    await stage.until('config 2 is released', async () => (await contents(stage)).includes('2'))
    await stage.approve()
    await untilContents(stage, ['2', '2', '2', '2', '2'])
    expectKept(stage)
  })

  it('gets back a copy that a user deletes', async () => {
    await stopByStrategy()
    const named = (await copies(stage)).map(({ metadata }) => metadata.name)
    for (const name of named) await stage.client.delete(resourcePaths.configMaps, { namespace: stageKey.namespace, name })
    await stage.until('the copies are back', async () => (await copies(stage)).length === named.length, 5_000)
    expect((await copies(stage)).map(({ metadata }) => metadata.name)).toEqual(named)
    expect(await typeNow()).toBe('RollingUpdate')
  })

  it('takes another template at once, and pins it before its release begins (G6, G11)', async () => {
    await stopByStrategy()
    await stage.setImage('v2')
    await stage.until('it is OnDelete again', async () => (await typeNow()) === 'OnDelete')
    await untilPausedAt(stage, 1)
    expect(await isStopped()).toBe(false)
    await stage.approve()
    await untilContents(stage, ['1', '1', '1', '1', '1'])
  })
})

async function isStopped(): Promise<boolean> {
  const condition = await stalled(stage)
  return condition?.status === 'True' && condition.reason === 'StrategyConflict'
}

async function typeNow(): Promise<string | undefined> {
  return (await stage.daemonSet()).spec.updateStrategy?.type
}

async function setRolling(): Promise<void> {
  await stage.patchDaemonSet({ spec: { updateStrategy: { type: 'RollingUpdate' } } })
}
