import type { LogFields, Logger } from '@tranche/telemetry'
import { afterEach, expect, it } from 'vitest'
import { nodesOn, untilNodesOn, untilPausedAt } from './looks.ts'
import { setStage, type Stage } from './stage.ts'
import { stageKey } from './stage-objects.ts'

interface Line extends LogFields {
  readonly level: string
  readonly msg: string
}

const daemonSet = `${stageKey.namespace}/${stageKey.name}`

let stage: Stage
afterEach(() => stage.end())

it('INFO lines name the DaemonSet, revision, step and nodes of a release, and who approved', async () => {
  const lines: Line[] = []
  stage = await setStage({ nodes: 5, maxUnavailable: 2, log: recording(lines) })
  await stage.setImage('v2')
  await untilPausedAt(stage, 1)
  const canary = await nodesOn(stage, 'v2')
  await act('approve', 'alice', 1)
  await untilNodesOn(stage, 'v2', 5)
  await stage.until('it is completed', async () => (await stage.rollout()).status?.phase === 'Healthy')

  const { canaryStatus } = (await stage.rollout()).status ?? {}
  const about = { daemonSet, revision: canaryStatus?.canaryRevision }
  const deleted = lines.filter(({ msg }) => msg === 'deleted pod')
  expect(deleted.map(({ node }) => node).toSorted()).toEqual((await nodesOn(stage, 'v2')).toSorted())
  expect(deleted.filter(({ step }) => step === 1).map(({ node }) => node)).toEqual(canary)
  for (const line of deleted) expect(line).toMatchObject({ ...about, level: 'info', pod: expect.any(String) as string })
  expect(lines.filter(({ msg }) => msg === 'accepted action')).toEqual([
    expect.objectContaining({ ...about, level: 'info', action: 'approve', actor: 'alice', step: 1 }),
  ])
  const changes = lines.filter(({ msg, level }) => msg === 'changed release' && level === 'info')
  expect(changes.map(({ reason, step }) => [reason, step])).toEqual(
    expect.arrayContaining([
      ['ReleaseStarted', 1],
      ['StepPaused', 1],
      ['StepStarted', 2],
      ['ReleaseCompleted', 2],
    ]),
  )
  const ofPasses = lines.filter(({ msg }) => ['deleted pod', 'accepted action', 'changed release', 'wrote permit record'].includes(msg))
  for (const line of ofPasses) {
    expect(line['reconcileId']).toMatch(/^[a-z-]+-\d+$/)
    expect(line['program']).toMatch(/^tranche-(controller|executor)$/)
  }
  expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toEqual([])
})

it('WARN lines name a failed version with its DaemonSet and step, and a rejected action', async () => {
  const lines: Line[] = []
  stage = await setStage({ nodes: 5, maxUnavailable: 2, log: recording(lines) })
  await stage.setImage('v2-bad-crash')
  await stage.until('it has failed', async () => (await stage.rollout()).status?.failure !== undefined)
  await act('approve', 'bob', 7)
  await stage.until('it is answered', async () => (await stage.rollout()).status?.lastAction?.by === 'bob')
  const warnings = lines.filter(({ level }) => level === 'warn')
  expect(warnings).toContainEqual(
    expect.objectContaining({
      msg: 'changed release',
      reason: 'ReleaseFailed',
      daemonSet,
      step: 1,
      why: expect.stringContaining('node-') as string,
    }),
  )
  expect(warnings).toContainEqual(expect.objectContaining({ msg: 'rejected action', action: 'approve', actor: 'bob' }))
})

async function act(type: string, by: string, expectedStep: number): Promise<void> {
  const action = JSON.stringify({ id: `${type}-${by}`, type, by, expectedStep })
  await stage.patchRollout({ metadata: { annotations: { 'tranche.dev/action': action } } })
}

function recording(lines: Line[], bound: LogFields = {}): Logger {
  const write = (level: string) => (fields: LogFields, msg: string) => void lines.push({ ...bound, ...fields, level, msg })
  const child = (fields: LogFields): Logger => recording(lines, { ...bound, ...fields })
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error'), child }
}
