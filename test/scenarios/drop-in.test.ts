import type { Rollout, RolloutStatus } from '@tranche/api-schema'
import { createReflector, resourcePaths } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { bodyText } from '@tranche/wire'
import { afterEach, describe, expect, it } from 'vitest'
import { argoHealth, describedBy, kstatus } from './readers.ts'
import { expectKept } from './expect-kept.ts'
import { condition, nodesOn, untilNodesOn, untilPausedAt, untilReleased } from './looks.ts'
import { drive, setStage, type Stage, type StageOptions } from './stage.ts'

let stage: Stage
/** Every state of the Rollout that the watcher received. */
let seen: Rollout[]
const watching = new AbortController()

afterEach(() => stage.end())

const steps = [{ replicas: 1, pause: {} }, { replicas: '50%', pause: { duration: 5 } }, { replicas: '100%' }]

async function setWatchedStage(options: StageOptions = {}): Promise<void> {
  stage = await setStage({ nodes: 6, steps, ...options })
  const { client, clock } = stage
  const states: Rollout[] = []
  const rollouts = createReflector<Rollout, Rollout>({
    client,
    clock,
    log: silentLogger,
    resource: resourcePaths.rollouts,
    transform: (rollout) => rollout,
  })
  rollouts.subscribe({ onChange: (_key, _previous, current) => void (current === undefined ? 0 : states.push(current)) })
  rollouts.start(watching.signal).catch(() => {})
  await drive(clock, rollouts.whenSynced())
  seen = states
}

describe('the status that a watcher sees', () => {
  it("has OpenKruise's order of phases, reasons, steps and states", async () => {
    await setWatchedStage()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.patchRollout({ spec: { strategy: { paused: true } } })
    await stage.until('it is paused', async () => (await condition(stage, 'Progressing'))?.reason === 'Paused')
    await stage.patchRollout({ spec: { strategy: { paused: false } } })
    await stage.until('it continues', async () => (await condition(stage, 'Progressing'))?.reason === 'InRolling')
    await stage.approve()
    await untilReleased(stage, 'v2')
    await stage.pass(1_000)
    expect(
      walked(({ phase, canaryStatus: canary, conditions }) => [
        phase,
        reasonOf(conditions, 'Progressing'),
        `${canary?.currentStepIndex} ${canary?.currentStepState}`,
        canary?.finalisingStep,
      ]),
    ).toEqual([
      'Healthy – 3 Completed –',
      'Progressing Initializing 1 BeforeStepUpgrade –',
      'Progressing InRolling 1 StepUpgrade –',
      'Progressing InRolling 1 StepPaused –',
      'Progressing Paused 1 StepPaused –',
      'Progressing InRolling 1 StepPaused –',
      'Progressing InRolling 1 StepReady –',
      'Progressing InRolling 2 StepUpgrade –',
      'Progressing InRolling 2 StepPaused –',
      'Progressing InRolling 3 StepUpgrade –',
      'Progressing Finalising 3 Completed ResumeWorkload',
      'Healthy Completed 3 Completed END',
    ])
    expect(walked(({ conditions }) => [succeeded(conditions)])).toEqual(['–', 'True'])
    expect(walked(({ phase, canaryStatus }) => [phase, canaryStatus?.nextStepIndex])).toEqual([
      'Healthy -1',
      'Progressing 2',
      'Progressing 3',
      'Progressing -1',
      'Healthy -1',
    ])
    expectKept(stage)
  })

  it('is Cancelling when the stable version comes back, and not Succeeded in the end', async () => {
    await setWatchedStage()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.setImage('v1')
    await untilReleased(stage, 'v1')
    await stage.pass(1_000)
    const reasons = walked(({ phase, conditions }) => [phase, reasonOf(conditions, 'Progressing'), succeeded(conditions)])
    expect(reasons).toEqual([
      'Healthy – –',
      'Progressing Initializing –',
      'Progressing InRolling –',
      'Progressing Cancelling –',
      'Healthy Completed False',
    ])
    expectKept(stage)
  })

  it('is Terminating, and Completed just before the Rollout is deleted', async () => {
    await setWatchedStage()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await drive(stage.clock, stage.client.delete(resourcePaths.rollouts, { namespace: 'demo', name: 'node-agent' }))
    await stage.until('it is gone', async () => (await rollouts()).length === 0)
    const terminating = walked(({ phase, conditions }) => [phase, reasonOf(conditions, 'Terminating')])
    expect(terminating.slice(-2)).toEqual(['Terminating InTerminating', 'Terminating Completed'])
  })

  it('is Disabling, Disabled and, once it is enabled again, Healthy after the rest is released', async () => {
    await setWatchedStage()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.patchRollout({ spec: { disabled: true } })
    await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled')
    expect(walked(({ phase }) => [phase]).slice(-3)).toEqual(['Progressing', 'Disabling', 'Disabled'])
    await stage.patchRollout({ spec: { disabled: false } })
    await stage.until('it continues', async () => (await stage.rollout()).status?.phase === 'Progressing')
    await untilPausedAt(stage, 1)
    await stage.approve()
    await untilReleased(stage, 'v2')
  })

  it('always describes the current DaemonSet and steps', async () => {
    await setWatchedStage()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    const [first] = (await stage.pods()).flatMap(({ metadata }) => metadata.labels?.['rollouts.kruise.io/rollout-id'] ?? [])
    await stage.patchDaemonSet({ metadata: { labels: { 'rollouts.kruise.io/rollout-id': 'may' } }, spec: { revisionHistoryLimit: 7 } })
    await stage.patchRollout({
      spec: { strategy: { canary: { steps: [...steps.slice(0, 2), { replicas: '80%', pause: { duration: 1 } }] } } },
    })
    await stage.until('its pods have the new labels', async () => (await labelsOfPods()).every(([id]) => id === 'may'))
    expect(first).toBe((await stage.rollout()).status?.canaryStatus?.canaryRevision)
    expect(await labelsOfPods()).toEqual([['may', '1']])
    const { metadata, status } = await stage.rollout()
    expect(status?.canaryStatus).toMatchObject({
      observedWorkloadGeneration: (await stage.daemonSet()).metadata.generation,
      observedRolloutID: 'may',
      rolloutHash: metadata.annotations?.['rollouts.kruise.io/hash'],
      currentStepIndex: 1,
      currentStepState: 'StepPaused',
    })
    expect((await stage.release())?.status?.observedRolloutID).toBe('may')
    await stage.approve()
    await untilReleased(stage, 'v2')
    await stage.patchDaemonSet({ spec: { revisionHistoryLimit: 8 } })
    await stage.pass(5_000)
    expect((await stage.rollout()).status?.canaryStatus?.observedWorkloadGeneration).toBe((await stage.daemonSet()).metadata.generation)
  })
})

/** Requests of OpenKruise's kubectl plugin, byte by byte. */
const requests = {
  approve: ['/status', '{"status":{"canaryStatus":{"currentStepState":"StepReady"}}}'],
  pause: ['', '{"spec":{"strategy":{"paused":true}}}'],
  resume: ['', '{"spec":{"strategy":{"paused":null}}}'],
  undoFast: ['/status', '{"status":{"canaryStatus":{"nextStepIndex":1}}}'],
} as const

describe("a request of OpenKruise's kubectl plugin", () => {
  const phases: Record<string, { readonly set: () => Promise<unknown>; readonly phase: string }> = {
    'before anything was released': { set: async () => {}, phase: 'Healthy' },
    'in the middle of a batch': { set: () => untilNodesOn(stage, 'v2', 1), phase: 'Progressing' },
    'in a pause': { set: () => untilPausedAt(stage, 1), phase: 'Progressing' },
    'while it is finalizing': {
      set: async () => {
        await untilPausedAt(stage, 1)
        await stage.approve()
        await stage.until('it settles', async () => (await stage.rollout()).status?.canaryStatus?.finalisingStep === 'ResumeWorkload')
      },
      phase: 'Progressing',
    },
    'when it is stalled': {
      set: async () => {
        await untilPausedAt(stage, 1)
        await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } } })
        await stage.until('it is stalled', async () => (await condition(stage, 'Stalled'))?.status === 'True')
      },
      phase: 'Progressing',
    },
    'when it is disabled': {
      set: async () => {
        await untilPausedAt(stage, 1)
        await stage.patchRollout({ spec: { disabled: true } })
        await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled')
      },
      phase: 'Disabled',
    },
  }

  it.each(Object.entries(phases))('is accepted or reset, never rejected or lost: %s', async (name, { set, phase }) => {
    await setWatchedStage()
    if (name !== 'before anything was released') await stage.setImage('v2')
    await set()
    expect((await stage.rollout()).status?.phase).toBe(phase)
    describedBy(await stage.rollout())
    const order: readonly (keyof typeof requests)[] = ['pause', 'approve', 'undoFast', 'resume', 'approve', 'undoFast']
    for (const request of order) {
      expect(await send(request), request).toBe(200)
      describedBy(await stage.rollout())
      await stage.pass(3_000)
      describedBy(await stage.rollout())
    }
    const { canaryStatus, currentStepState, currentStepIndex } = (await stage.rollout()).status ?? {}
    expect(canaryStatus).toMatchObject({ currentStepIndex, currentStepState })
    for (const rollout of seen) expect(() => [describedBy(rollout), argoHealth(rollout)]).not.toThrow()
  })

  it('for undo --fast jumps back without a rollback, and approves', async () => {
    await setWatchedStage({ steps: [{ replicas: 1, pause: {} }, { replicas: 3, pause: {} }, { replicas: '100%' }] })
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await send('approve')
    await untilPausedAt(stage, 2)
    await send('undoFast')
    await untilPausedAt(stage, 1)
    expect(await nodesOn(stage, 'v2')).toHaveLength(3)
    for (const step of [1, 2]) {
      await untilPausedAt(stage, step)
      expect(await send('approve')).toBe(200)
    }
    await untilReleased(stage, 'v2')
    expectKept(stage)
  })

  it('for the pods of a step finds them by the labels that it selects', async () => {
    await setWatchedStage()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.until('they are labelled', async () => (await selected()).length === 1)
  })
})

/** Pods that `describe` lists. */
async function selected(): Promise<readonly unknown[]> {
  const { podSelector } = describedBy(await stage.rollout())
  return (await stage.client.list(resourcePaths.pods, { namespace: 'demo', labelSelector: podSelector })).items
}

describe('the state in GitOps tools', () => {
  it('is right at every moment of a release, and never an error', async () => {
    await setWatchedStage()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.patchRollout({ spec: { strategy: { canary: { failureThreshold: 1 } } } })
    await stage.pass(2_000)
    await stage.approve()
    await untilReleased(stage, 'v2')
    await stage.pass(1_000)
    const verdicts = seen.map((rollout) => `${rollout.status?.phase} ${argoHealth(rollout)} ${kstatus(rollout)}`)
    const changes = verdicts.filter((verdict, at) => verdict !== verdicts[at - 1])
    expect(changes).toEqual([
      'Healthy Healthy Current',
      'Progressing Progressing InProgress',
      'Progressing Suspended InProgress',
      // The new generation is not observed yet.
      'Progressing Progressing InProgress',
      'Progressing Suspended InProgress',
      'Progressing Progressing InProgress',
      'Progressing Suspended InProgress',
      'Progressing Progressing InProgress',
      'Healthy Healthy Current',
    ])
  })

  it('is Failed for Flux while the release is stalled, and Degraded for Argo CD when a paused release was disabled', async () => {
    await setWatchedStage()
    await stage.setImage('v2')
    await untilPausedAt(stage, 1)
    await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } } })
    await stage.until('it is stalled', async () => kstatus(await stage.rollout()) === 'Failed')
    await stage.patchDaemonSet({ spec: { updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } } })
    await stage.until('it continues', async () => kstatus(await stage.rollout()) === 'InProgress')
    await stage.patchRollout({ spec: { disabled: true } })
    await stage.until('it is disabled', async () => (await stage.rollout()).status?.phase === 'Disabled')
    expect([argoHealth(await stage.rollout()), kstatus(await stage.rollout())]).toEqual(['Degraded', 'Current'])
  })
})

async function rollouts(): Promise<readonly unknown[]> {
  return (await stage.client.list(resourcePaths.rollouts, { namespace: 'demo' })).items
}

/** Status values that the watcher saw, without repetitions; a missing or empty value is `–`. */
function walked(pick: (status: RolloutStatus) => readonly (string | number | undefined)[]): readonly string[] {
  const texts = seen.flatMap(({ status }) =>
    status === undefined
      ? []
      : [
          pick(status)
            .map((word) => (word === undefined || word === '' ? '–' : word))
            .join(' '),
        ],
  )
  return texts.filter((text, at) => text !== texts[at - 1])
}

function succeeded(conditions: RolloutStatus['conditions']): string | undefined {
  return conditions?.find(({ type }) => type === 'Succeeded')?.status
}

function reasonOf(conditions: RolloutStatus['conditions'], type: string): string | undefined {
  return conditions?.find((one) => one.type === type)?.reason
}

/** Rollout-id and batch of the pods that have one, without repetitions. */
async function labelsOfPods(): Promise<readonly (readonly string[])[]> {
  const labels = (await stage.pods()).flatMap(({ metadata }) => {
    const id = metadata.labels?.['rollouts.kruise.io/rollout-id']
    return id === undefined ? [] : [`${id} ${metadata.labels?.['rollouts.kruise.io/rollout-batch-id']}`]
  })
  return [...new Set(labels)].map((pair) => pair.split(' '))
}

/** @returns the status code of the answer */
async function send(request: keyof typeof requests): Promise<number> {
  const [subresource, body] = requests[request]
  const exchange = stage.simulator.exchangeFor('outsider')
  const path = `/apis/rollouts.kruise.io/v1beta1/namespaces/demo/rollouts/node-agent${subresource}`
  const headers = { accept: 'application/json', 'content-type': 'application/merge-patch+json' }
  const answered = exchange({ method: 'PATCH', path, headers, body }, AbortSignal.timeout(30_000)).then(async (answer) => {
    await bodyText(answer)
    return answer.status
  })
  return drive(stage.clock, answered)
}
