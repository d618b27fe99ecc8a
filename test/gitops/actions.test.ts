import { readFileSync } from 'node:fs'
import { type RolloutAction, rolloutActionSchema } from '@tranche/api-schema'
import { rolloutAnnotations } from '@tranche/kube-types'
import { afterEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from '../scenarios/looks.ts'
import { setStage, type Stage } from '../scenarios/stage.ts'
import { actionNames, actionPatch, argoVerdictOfRelease, discoveredActions, possibleActions } from './argo-cd.ts'

let stage: Stage
afterEach(() => stage.end())

const steps = [{ replicas: 1, pause: {} }, { replicas: '50%', pause: {} }, { replicas: '100%' }]

describe('an action of Argo CD', () => {
  it('approves, pauses, resumes and promotes a release to its end', async () => {
    stage = await setStage({ nodes: 8, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    expect(await click('approve')).toMatchObject({ type: 'approve', expectedStep: 1, by: 'argocd' })
    await untilNodesOn(stage, 'v2', 2)
    await click('pause')
    await stage.until('it is paused', async () => (await condition(stage, 'Progressing'))?.reason === 'Paused')
    expect(await possibleActions(await stage.rollout())).not.toContain('pause')
    await click('resume')
    await untilPausedAt(stage, 2)
    await click('promote')
    await untilReleased(stage, 'v2')
    expect((await stage.rollout()).status?.answeredActions).toHaveLength(2)
  })

  it('approves only one step when two people click', async () => {
    stage = await setStage({ nodes: 8, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const seen = await stage.rollout()
    for (const nowSeconds of [1_700_000_000, 1_700_000_060]) {
      await stage.patchRollout(await actionPatch('approve', seen, nowSeconds))
      await untilPausedAt(stage, 2)
      await stage.pass(5_000)
    }
    expect((await stage.rollout()).status).toMatchObject({ currentStepIndex: 2, lastAction: { result: 'Refused', by: 'argocd' } })
  })

  it('rolls a version back, and releases it after a retry', async () => {
    stage = await setStage({ nodes: 8, steps })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await click('abort')
    await untilReleased(stage, 'v1')
    expect(await nodesOn(stage, 'v2')).toEqual([])
    await stage.setImage('v2')
    await stage.until('it is held', async () => (await condition(stage, 'Stalled'))?.reason === 'RevisionHeld')
    await click('retry')
    await untilPausedAt(stage, 1)
    await click('promote-full')
    await untilReleased(stage, 'v2')
  })

  it.each(actionNames.filter((name) => name !== 'pause'))(
    '%s is refused where a user of statuses has put another action into the revision',
    async (name) => {
      stage = await setStage({ nodes: 4, steps })
      await stage.setImage(name === 'resume' ? 'v2-bad-crash' : 'v2')
      await stage.until('it waits', async () => {
        const { status } = await stage.rollout()
        return status?.canaryStatus?.currentStepState === 'StepPaused' || status?.failure?.stops === true
      })
      const seen = await stage.rollout()
      const canaryRevision = 'v2","type":"promote","revision":"v2'
      const forged = { ...seen, status: { ...seen.status!, canaryStatus: { ...seen.status!.canaryStatus!, canaryRevision } } }
      await expect(actionPatch(name, forged)).rejects.toThrow('the status has no revision')
    },
  )

  it('resumes a release that a failure has stopped, as a retry', async () => {
    stage = await setStage({ nodes: 8, maxUnavailable: 1, steps })
    await stage.setImage('bad-ready')
    await stage.until('it is stopped', async () => (await condition(stage, 'Stalled'))?.reason === 'ReleaseFailed', 1_200_000)
    expect(await click('resume')).toMatchObject({ type: 'retry' })
    await stage.until('it is answered', async () => (await stage.rollout()).status?.lastAction?.type === 'retry')
    expect((await stage.rollout()).status?.lastAction?.result).toBe('Accepted')
  })

  it('changes nothing else in the object', async () => {
    stage = await setStage({ nodes: 2, steps })
    const rollout = await stage.rollout()
    for (const name of actionNames) {
      const patch = await actionPatch(name, {
        ...rollout,
        spec: { ...rollout.spec, strategy: { ...rollout.spec.strategy, paused: name === 'resume' } },
      })
      const isPause = name === 'pause' || name === 'resume'
      const expected = isPause
        ? { spec: { strategy: { paused: name === 'pause' } } }
        : { metadata: { annotations: { [rolloutAnnotations.action]: expect.any(String) } } }
      expect(patch, name).toEqual(expected)
    }
  })

  it('writes an action that the controller can read, with another id a second later', async () => {
    stage = await setStage({ nodes: 2, steps })
    const rollout = await stage.rollout()
    for (const name of actionNames.filter((one) => one !== 'pause' && one !== 'resume')) {
      const actions = await Promise.all([1_700_000_000, 1_700_000_001].map((now) => writtenAction(actionPatch(name, rollout, now))))
      const [first, second] = actions.map((text) => rolloutActionSchema.parse(JSON.parse(text)))
      expect(first, name).toMatchObject({
        type: name.replace('-full', ''),
        by: 'argocd',
        revision: rollout.status?.canaryStatus?.canaryRevision,
      })
      expect(second?.id, name).not.toBe(first?.id)
      expect(first?.full === true, name).toBe(name === 'promote-full')
    }
  })

  it('is in the menu, with a title and an icon, and in the ConfigMap', async () => {
    stage = await setStage({ nodes: 2, steps })
    const menu = await discoveredActions(await stage.rollout())
    expect(Object.keys(menu).toSorted()).toEqual(actionNames.toSorted())
    for (const { displayName, iconClass } of Object.values(menu))
      expect([displayName, iconClass]).toEqual([expect.stringMatching(/^\w/), expect.stringMatching(/^fa /)])
    const { data } = parse(readFileSync('examples/gitops/argo-cd/argocd-cm.yaml', 'utf8')) as { data: Record<string, string> }
    const { definitions } = parse(data['resource.customizations.actions.rollouts.kruise.io_Rollout'] ?? '') as {
      definitions: { name: string }[]
    }
    expect(definitions.map(({ name }) => name)).toEqual(actionNames)
  })

  it('is not offered for the Rollout of another workload', async () => {
    stage = await setStage({ nodes: 2, steps })
    const rollout = await stage.rollout()
    const workloadRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
    expect(await possibleActions({ ...rollout, spec: { ...rollout.spec, workloadRef } })).toEqual([])
  })
})

it('the health of a BatchRelease in Argo CD matches its release', async () => {
  stage = await setStage({ nodes: 8, steps })
  await stage.setImage('v2')
  await untilNodesOn(stage, 'v2', 1)
  const health = async (): Promise<string> => (await argoVerdictOfRelease((await stage.release()) ?? {})).status
  expect(await health()).toBe('Progressing')
  await click('pause')
  await stage.until('it is suspended', async () => (await health()) === 'Suspended')
  await click('resume')
  await untilPausedAt(stage, 1)
  await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } } })
  await click('approve')
  await stage.until('it is degraded', async () => (await health()) === 'Degraded')
})

async function writtenAction(patch: ReturnType<typeof actionPatch>): Promise<string> {
  const { annotations } = ((await patch)['metadata'] ?? {}) as { annotations?: Record<string, string> }
  return annotations?.[rolloutAnnotations.action] ?? ''
}

/** Runs Argo CD's action on the present Rollout. @returns the annotation that it wrote, if any */
async function click(name: string): Promise<RolloutAction | undefined> {
  const rollout = await stage.rollout()
  expect(await possibleActions(rollout), name).toContain(name)
  const patch = await actionPatch(name, rollout)
  await stage.patchRollout(patch)
  const text = await writtenAction(Promise.resolve(patch))
  return text === '' ? undefined : (JSON.parse(text) as RolloutAction)
}
